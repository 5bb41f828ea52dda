Creator "igraph version 1.0.0 Mon Nov 30 19:22:49 2026"
Version 1
graph
[
  directed 0
  node
  [
    id 0
    igraphnxname "Napoleon"
    name "Napoleon"
  ]
  node
  [
    id 1
    igraphnxname "Myriel"
    name "Myriel"
  ]
  node
  [
    id 2
    igraphnxname "MlleBaptistine"
    name "MlleBaptistine"
  ]
  node
  [
    id 3
    igraphnxname "MmeMagloire"
    name "MmeMagloire"
  ]
  node
  [
    id 4
    igraphnxname "CountessDeLo"
    name "CountessDeLo"
  ]
  node
  [
    id 5
    igraphnxname "Geborand"
    name "Geborand"
  ]
  node
  [
    id 6
    igraphnxname "Champtercier"
    name "Champtercier"
  ]
  node
  [
    id 7
    igraphnxname "Cravatte"
    name "Cravatte"
  ]
  node
  [
    id 8
    igraphnxname "Count"
    name "Count"
  ]
  node
  [
    id 9
    igraphnxname "OldMan"
    name "OldMan"
  ]
  node
  [
    id 10
    igraphnxname "Valjean"
    name "Valjean"
  ]
  node
  [
    id 11
    igraphnxname "Labarre"
    name "Labarre"
  ]
  node
  [
    id 12
    igraphnxname "Marguerite"
    name "Marguerite"
  ]
  node
  [
    id 13
    igraphnxname "MmeDeR"
    name "MmeDeR"
  ]
  node
  [
    id 14
    igraphnxname "Isabeau"
    name "Isabeau"
  ]
  node
  [
    id 15
    igraphnxname "Gervais"
    name "Gervais"
  ]
  node
  [
    id 16
    igraphnxname "Listolier"
    name "Listolier"
  ]
  node
  [
    id 17
    igraphnxname "Tholomyes"
    name "Tholomyes"
  ]
  node
  [
    id 18
    igraphnxname "Fameuil"
    name "Fameuil"
  ]
  node
  [
    id 19
    igraphnxname "Blacheville"
    name "Blacheville"
  ]
  node
  [
    id 20
    igraphnxname "Favourite"
    name "Favourite"
  ]
  node
  [
    id 21
    igraphnxname "Dahlia"
    name "Dahlia"
  ]
  node
  [
    id 22
    igraphnxname "Zephine"
    name "Zephine"
  ]
  node
  [
    id 23
    igraphnxname "Fantine"
    name "Fantine"
  ]
  node
  [
    id 24
    igraphnxname "MmeThenardier"
    name "MmeThenardier"
  ]
  node
  [
    id 25
    igraphnxname "Thenardier"
    name "Thenardier"
  ]
  node
  [
    id 26
    igraphnxname "Cosette"
    name "Cosette"
  ]
  node
  [
    id 27
    igraphnxname "Javert"
    name "Javert"
  ]
  node
  [
    id 28
    igraphnxname "Fauchelevent"
    name "Fauchelevent"
  ]
  node
  [
    id 29
    igraphnxname "Bamatabois"
    name "Bamatabois"
  ]
  node
  [
    id 30
    igraphnxname "Perpetue"
    name "Perpetue"
  ]
  node
  [
    id 31
    igraphnxname "Simplice"
    name "Simplice"
  ]
  node
  [
    id 32
    igraphnxname "Scaufflaire"
    name "Scaufflaire"
  ]
  node
  [
    id 33
    igraphnxname "Woman1"
    name "Woman1"
  ]
  node
  [
    id 34
    igraphnxname "Judge"
    name "Judge"
  ]
  node
  [
    id 35
    igraphnxname "Champmathieu"
    name "Champmathieu"
  ]
  node
  [
    id 36
    igraphnxname "Brevet"
    name "Brevet"
  ]
  node
  [
    id 37
    igraphnxname "Chenildieu"
    name "Chenildieu"
  ]
  node
  [
    id 38
    igraphnxname "Cochepaille"
    name "Cochepaille"
  ]
  node
  [
    id 39
    igraphnxname "Pontmercy"
    name "Pontmercy"
  ]
  node
  [
    id 40
    igraphnxname "Boulatruelle"
    name "Boulatruelle"
  ]
  node
  [
    id 41
    igraphnxname "Eponine"
    name "Eponine"
  ]
  node
  [
    id 42
    igraphnxname "Anzelma"
    name "Anzelma"
  ]
  node
  [
    id 43
    igraphnxname "Woman2"
    name "Woman2"
  ]
  node
  [
    id 44
    igraphnxname "MotherInnocent"
    name "MotherInnocent"
  ]
  node
  [
    id 45
    igraphnxname "Gribier"
    name "Gribier"
  ]
  node
  [
    id 46
    igraphnxname "MmeBurgon"
    name "MmeBurgon"
  ]
  node
  [
    id 47
    igraphnxname "Jondrette"
    name "Jondrette"
  ]
  node
  [
    id 48
    igraphnxname "Gavroche"
    name "Gavroche"
  ]
  node
  [
    id 49
    igraphnxname "Gillenormand"
    name "Gillenormand"
  ]
  node
  [
    id 50
    igraphnxname "Magnon"
    name "Magnon"
  ]
  node
  [
    id 51
    igraphnxname "MlleGillenormand"
    name "MlleGillenormand"
  ]
  node
  [
    id 52
    igraphnxname "MmePontmercy"
    name "MmePontmercy"
  ]
  node
  [
    id 53
    igraphnxname "MlleVaubois"
    name "MlleVaubois"
  ]
  node
  [
    id 54
    igraphnxname "LtGillenormand"
    name "LtGillenormand"
  ]
  node
  [
    id 55
    igraphnxname "Marius"
    name "Marius"
  ]
  node
  [
    id 56
    igraphnxname "BaronessT"
    name "BaronessT"
  ]
  node
  [
    id 57
    igraphnxname "Mabeuf"
    name "Mabeuf"
  ]
  node
  [
    id 58
    igraphnxname "Enjolras"
    name "Enjolras"
  ]
  node
  [
    id 59
    igraphnxname "Combeferre"
    name "Combeferre"
  ]
  node
  [
    id 60
    igraphnxname "Prouvaire"
    name "Prouvaire"
  ]
  node
  [
    id 61
    igraphnxname "Feuilly"
    name "Feuilly"
  ]
  node
  [
    id 62
    igraphnxname "Courfeyrac"
    name "Courfeyrac"
  ]
  node
  [
    id 63
    igraphnxname "Bahorel"
    name "Bahorel"
  ]
  node
  [
    id 64
    igraphnxname "Bossuet"
    name "Bossuet"
  ]
  node
  [
    id 65
    igraphnxname "Joly"
    name "Joly"
  ]
  node
  [
    id 66
    igraphnxname "Grantaire"
    name "Grantaire"
  ]
  node
  [
    id 67
    igraphnxname "MotherPlutarch"
    name "MotherPlutarch"
  ]
  node
  [
    id 68
    igraphnxname "Gueulemer"
    name "Gueulemer"
  ]
  node
  [
    id 69
    igraphnxname "Babet"
    name "Babet"
  ]
  node
  [
    id 70
    igraphnxname "Claquesous"
    name "Claquesous"
  ]
  node
  [
    id 71
    igraphnxname "Montparnasse"
    name "Montparnasse"
  ]
  node
  [
    id 72
    igraphnxname "Toussaint"
    name "Toussaint"
  ]
  node
  [
    id 73
    igraphnxname "Child1"
    name "Child1"
  ]
  node
  [
    id 74
    igraphnxname "Child2"
    name "Child2"
  ]
  node
  [
    id 75
    igraphnxname "Brujon"
    name "Brujon"
  ]
  node
  [
    id 76
    igraphnxname "MmeHucheloup"
    name "MmeHucheloup"
  ]
  edge
  [
    source 1
    target 0
    weight 1
  ]
  edge
  [
    source 2
    target 1
    weight 8
  ]
  edge
  [
    source 3
    target 1
    weight 10
  ]
  edge
  [
    source 4
    target 1
    weight 1
  ]
  edge
  [
    source 5
    target 1
    weight 1
  ]
  edge
  [
    source 6
    target 1
    weight 1
  ]
  edge
  [
    source 7
    target 1
    weight 1
  ]
  edge
  [
    source 8
    target 1
    weight 2
  ]
  edge
  [
    source 9
    target 1
    weight 1
  ]
  edge
  [
    source 10
    target 1
    weight 5
  ]
  edge
  [
    source 3
    target 2
    weight 6
  ]
  edge
  [
    source 10
    target 2
    weight 3
  ]
  edge
  [
    source 10
    target 3
    weight 3
  ]
  edge
  [
    source 11
    target 10
    weight 1
  ]
  edge
  [
    source 12
    target 10
    weight 1
  ]
  edge
  [
    source 13
    target 10
    weight 1
  ]
  edge
  [
    source 14
    target 10
    weight 1
  ]
  edge
  [
    source 15
    target 10
    weight 1
  ]
  edge
  [
    source 23
    target 10
    weight 9
  ]
  edge
  [
    source 24
    target 10
    weight 7
  ]
  edge
  [
    source 25
    target 10
    weight 12
  ]
  edge
  [
    source 26
    target 10
    weight 31
  ]
  edge
  [
    source 27
    target 10
    weight 17
  ]
  edge
  [
    source 28
    target 10
    weight 8
  ]
  edge
  [
    source 29
    target 10
    weight 2
  ]
  edge
  [
    source 31
    target 10
    weight 3
  ]
  edge
  [
    source 32
    target 10
    weight 1
  ]
  edge
  [
    source 33
    target 10
    weight 2
  ]
  edge
  [
    source 34
    target 10
    weight 3
  ]
  edge
  [
    source 35
    target 10
    weight 3
  ]
  edge
  [
    source 36
    target 10
    weight 2
  ]
  edge
  [
    source 37
    target 10
    weight 2
  ]
  edge
  [
    source 38
    target 10
    weight 2
  ]
  edge
  [
    source 43
    target 10
    weight 3
  ]
  edge
  [
    source 44
    target 10
    weight 1
  ]
  edge
  [
    source 48
    target 10
    weight 1
  ]
  edge
  [
    source 49
    target 10
    weight 2
  ]
  edge
  [
    source 51
    target 10
    weight 2
  ]
  edge
  [
    source 55
    target 10
    weight 19
  ]
  edge
  [
    source 58
    target 10
    weight 4
  ]
  edge
  [
    source 64
    target 10
    weight 1
  ]
  edge
  [
    source 68
    target 10
    weight 1
  ]
  edge
  [
    source 69
    target 10
    weight 1
  ]
  edge
  [
    source 70
    target 10
    weight 1
  ]
  edge
  [
    source 71
    target 10
    weight 1
  ]
  edge
  [
    source 72
    target 10
    weight 1
  ]
  edge
  [
    source 23
    target 12
    weight 2
  ]
  edge
  [
    source 17
    target 16
    weight 4
  ]
  edge
  [
    source 18
    target 16
    weight 4
  ]
  edge
  [
    source 19
    target 16
    weight 4
  ]
  edge
  [
    source 20
    target 16
    weight 3
  ]
  edge
  [
    source 21
    target 16
    weight 3
  ]
  edge
  [
    source 22
    target 16
    weight 3
  ]
  edge
  [
    source 23
    target 16
    weight 3
  ]
  edge
  [
    source 18
    target 17
    weight 4
  ]
  edge
  [
    source 19
    target 17
    weight 4
  ]
  edge
  [
    source 20
    target 17
    weight 3
  ]
  edge
  [
    source 21
    target 17
    weight 3
  ]
  edge
  [
    source 22
    target 17
    weight 3
  ]
  edge
  [
    source 23
    target 17
    weight 3
  ]
  edge
  [
    source 26
    target 17
    weight 1
  ]
  edge
  [
    source 55
    target 17
    weight 1
  ]
  edge
  [
    source 19
    target 18
    weight 4
  ]
  edge
  [
    source 20
    target 18
    weight 3
  ]
  edge
  [
    source 21
    target 18
    weight 3
  ]
  edge
  [
    source 22
    target 18
    weight 3
  ]
  edge
  [
    source 23
    target 18
    weight 3
  ]
  edge
  [
    source 20
    target 19
    weight 4
  ]
  edge
  [
    source 21
    target 19
    weight 3
  ]
  edge
  [
    source 22
    target 19
    weight 3
  ]
  edge
  [
    source 23
    target 19
    weight 3
  ]
  edge
  [
    source 21
    target 20
    weight 5
  ]
  edge
  [
    source 22
    target 20
    weight 4
  ]
  edge
  [
    source 23
    target 20
    weight 4
  ]
  edge
  [
    source 22
    target 21
    weight 4
  ]
  edge
  [
    source 23
    target 21
    weight 4
  ]
  edge
  [
    source 23
    target 22
    weight 4
  ]
  edge
  [
    source 24
    target 23
    weight 2
  ]
  edge
  [
    source 25
    target 23
    weight 1
  ]
  edge
  [
    source 27
    target 23
    weight 5
  ]
  edge
  [
    source 29
    target 23
    weight 1
  ]
  edge
  [
    source 30
    target 23
    weight 1
  ]
  edge
  [
    source 31
    target 23
    weight 2
  ]
  edge
  [
    source 25
    target 24
    weight 13
  ]
  edge
  [
    source 26
    target 24
    weight 4
  ]
  edge
  [
    source 27
    target 24
    weight 1
  ]
  edge
  [
    source 41
    target 24
    weight 2
  ]
  edge
  [
    source 42
    target 24
    weight 1
  ]
  edge
  [
    source 50
    target 24
    weight 1
  ]
  edge
  [
    source 68
    target 24
    weight 1
  ]
  edge
  [
    source 69
    target 24
    weight 1
  ]
  edge
  [
    source 70
    target 24
    weight 1
  ]
  edge
  [
    source 26
    target 25
    weight 1
  ]
  edge
  [
    source 27
    target 25
    weight 5
  ]
  edge
  [
    source 39
    target 25
    weight 1
  ]
  edge
  [
    source 40
    target 25
    weight 1
  ]
  edge
  [
    source 41
    target 25
    weight 3
  ]
  edge
  [
    source 42
    target 25
    weight 2
  ]
  edge
  [
    source 48
    target 25
    weight 1
  ]
  edge
  [
    source 55
    target 25
    weight 2
  ]
  edge
  [
    source 68
    target 25
    weight 5
  ]
  edge
  [
    source 69
    target 25
    weight 6
  ]
  edge
  [
    source 70
    target 25
    weight 4
  ]
  edge
  [
    source 71
    target 25
    weight 1
  ]
  edge
  [
    source 75
    target 25
    weight 3
  ]
  edge
  [
    source 27
    target 26
    weight 1
  ]
  edge
  [
    source 43
    target 26
    weight 1
  ]
  edge
  [
    source 49
    target 26
    weight 3
  ]
  edge
  [
    source 51
    target 26
    weight 2
  ]
  edge
  [
    source 54
    target 26
    weight 1
  ]
  edge
  [
    source 55
    target 26
    weight 21
  ]
  edge
  [
    source 72
    target 26
    weight 2
  ]
  edge
  [
    source 28
    target 27
    weight 1
  ]
  edge
  [
    source 29
    target 27
    weight 1
  ]
  edge
  [
    source 31
    target 27
    weight 1
  ]
  edge
  [
    source 33
    target 27
    weight 1
  ]
  edge
  [
    source 43
    target 27
    weight 1
  ]
  edge
  [
    source 48
    target 27
    weight 1
  ]
  edge
  [
    source 58
    target 27
    weight 6
  ]
  edge
  [
    source 68
    target 27
    weight 1
  ]
  edge
  [
    source 69
    target 27
    weight 2
  ]
  edge
  [
    source 70
    target 27
    weight 1
  ]
  edge
  [
    source 71
    target 27
    weight 1
  ]
  edge
  [
    source 72
    target 27
    weight 1
  ]
  edge
  [
    source 44
    target 28
    weight 3
  ]
  edge
  [
    source 45
    target 28
    weight 2
  ]
  edge
  [
    source 34
    target 29
    weight 2
  ]
  edge
  [
    source 35
    target 29
    weight 2
  ]
  edge
  [
    source 36
    target 29
    weight 1
  ]
  edge
  [
    source 37
    target 29
    weight 1
  ]
  edge
  [
    source 38
    target 29
    weight 1
  ]
  edge
  [
    source 31
    target 30
    weight 2
  ]
  edge
  [
    source 35
    target 34
    weight 3
  ]
  edge
  [
    source 36
    target 34
    weight 2
  ]
  edge
  [
    source 37
    target 34
    weight 2
  ]
  edge
  [
    source 38
    target 34
    weight 2
  ]
  edge
  [
    source 36
    target 35
    weight 2
  ]
  edge
  [
    source 37
    target 35
    weight 2
  ]
  edge
  [
    source 38
    target 35
    weight 2
  ]
  edge
  [
    source 37
    target 36
    weight 2
  ]
  edge
  [
    source 38
    target 36
    weight 2
  ]
  edge
  [
    source 38
    target 37
    weight 2
  ]
  edge
  [
    source 52
    target 39
    weight 1
  ]
  edge
  [
    source 55
    target 39
    weight 1
  ]
  edge
  [
    source 42
    target 41
    weight 2
  ]
  edge
  [
    source 55
    target 41
    weight 5
  ]
  edge
  [
    source 57
    target 41
    weight 1
  ]
  edge
  [
    source 62
    target 41
    weight 1
  ]
  edge
  [
    source 68
    target 41
    weight 1
  ]
  edge
  [
    source 69
    target 41
    weight 1
  ]
  edge
  [
    source 70
    target 41
    weight 1
  ]
  edge
  [
    source 71
    target 41
    weight 1
  ]
  edge
  [
    source 75
    target 41
    weight 1
  ]
  edge
  [
    source 47
    target 46
    weight 1
  ]
  edge
  [
    source 48
    target 46
    weight 2
  ]
  edge
  [
    source 55
    target 48
    weight 4
  ]
  edge
  [
    source 57
    target 48
    weight 1
  ]
  edge
  [
    source 58
    target 48
    weight 7
  ]
  edge
  [
    source 59
    target 48
    weight 6
  ]
  edge
  [
    source 60
    target 48
    weight 1
  ]
  edge
  [
    source 61
    target 48
    weight 2
  ]
  edge
  [
    source 62
    target 48
    weight 7
  ]
  edge
  [
    source 63
    target 48
    weight 5
  ]
  edge
  [
    source 64
    target 48
    weight 5
  ]
  edge
  [
    source 65
    target 48
    weight 3
  ]
  edge
  [
    source 66
    target 48
    weight 1
  ]
  edge
  [
    source 68
    target 48
    weight 1
  ]
  edge
  [
    source 69
    target 48
    weight 1
  ]
  edge
  [
    source 71
    target 48
    weight 1
  ]
  edge
  [
    source 73
    target 48
    weight 2
  ]
  edge
  [
    source 74
    target 48
    weight 2
  ]
  edge
  [
    source 75
    target 48
    weight 1
  ]
  edge
  [
    source 76
    target 48
    weight 1
  ]
  edge
  [
    source 50
    target 49
    weight 1
  ]
  edge
  [
    source 51
    target 49
    weight 9
  ]
  edge
  [
    source 54
    target 49
    weight 1
  ]
  edge
  [
    source 55
    target 49
    weight 12
  ]
  edge
  [
    source 56
    target 49
    weight 1
  ]
  edge
  [
    source 52
    target 51
    weight 1
  ]
  edge
  [
    source 53
    target 51
    weight 1
  ]
  edge
  [
    source 54
    target 51
    weight 2
  ]
  edge
  [
    source 55
    target 51
    weight 6
  ]
  edge
  [
    source 55
    target 54
    weight 1
  ]
  edge
  [
    source 56
    target 55
    weight 1
  ]
  edge
  [
    source 57
    target 55
    weight 1
  ]
  edge
  [
    source 58
    target 55
    weight 7
  ]
  edge
  [
    source 59
    target 55
    weight 5
  ]
  edge
  [
    source 61
    target 55
    weight 1
  ]
  edge
  [
    source 62
    target 55
    weight 9
  ]
  edge
  [
    source 63
    target 55
    weight 1
  ]
  edge
  [
    source 64
    target 55
    weight 5
  ]
  edge
  [
    source 65
    target 55
    weight 2
  ]
  edge
  [
    source 58
    target 57
    weight 1
  ]
  edge
  [
    source 59
    target 57
    weight 2
  ]
  edge
  [
    source 61
    target 57
    weight 1
  ]
  edge
  [
    source 62
    target 57
    weight 2
  ]
  edge
  [
    source 63
    target 57
    weight 2
  ]
  edge
  [
    source 64
    target 57
    weight 1
  ]
  edge
  [
    source 65
    target 57
    weight 1
  ]
  edge
  [
    source 67
    target 57
    weight 3
  ]
  edge
  [
    source 59
    target 58
    weight 15
  ]
  edge
  [
    source 60
    target 58
    weight 4
  ]
  edge
  [
    source 61
    target 58
    weight 6
  ]
  edge
  [
    source 62
    target 58
    weight 17
  ]
  edge
  [
    source 63
    target 58
    weight 4
  ]
  edge
  [
    source 64
    target 58
    weight 10
  ]
  edge
  [
    source 65
    target 58
    weight 5
  ]
  edge
  [
    source 66
    target 58
    weight 3
  ]
  edge
  [
    source 70
    target 58
    weight 1
  ]
  edge
  [
    source 76
    target 58
    weight 1
  ]
  edge
  [
    source 60
    target 59
    weight 2
  ]
  edge
  [
    source 61
    target 59
    weight 5
  ]
  edge
  [
    source 62
    target 59
    weight 13
  ]
  edge
  [
    source 63
    target 59
    weight 5
  ]
  edge
  [
    source 64
    target 59
    weight 9
  ]
  edge
  [
    source 65
    target 59
    weight 5
  ]
  edge
  [
    source 66
    target 59
    weight 1
  ]
  edge
  [
    source 61
    target 60
    weight 2
  ]
  edge
  [
    source 62
    target 60
    weight 3
  ]
  edge
  [
    source 63
    target 60
    weight 2
  ]
  edge
  [
    source 64
    target 60
    weight 2
  ]
  edge
  [
    source 65
    target 60
    weight 2
  ]
  edge
  [
    source 66
    target 60
    weight 1
  ]
  edge
  [
    source 62
    target 61
    weight 6
  ]
  edge
  [
    source 63
    target 61
    weight 3
  ]
  edge
  [
    source 64
    target 61
    weight 6
  ]
  edge
  [
    source 65
    target 61
    weight 5
  ]
  edge
  [
    source 66
    target 61
    weight 1
  ]
  edge
  [
    source 63
    target 62
    weight 6
  ]
  edge
  [
    source 64
    target 62
    weight 12
  ]
  edge
  [
    source 65
    target 62
    weight 5
  ]
  edge
  [
    source 66
    target 62
    weight 2
  ]
  edge
  [
    source 76
    target 62
    weight 1
  ]
  edge
  [
    source 64
    target 63
    weight 4
  ]
  edge
  [
    source 65
    target 63
    weight 5
  ]
  edge
  [
    source 66
    target 63
    weight 1
  ]
  edge
  [
    source 76
    target 63
    weight 1
  ]
  edge
  [
    source 65
    target 64
    weight 7
  ]
  edge
  [
    source 66
    target 64
    weight 3
  ]
  edge
  [
    source 76
    target 64
    weight 1
  ]
  edge
  [
    source 66
    target 65
    weight 2
  ]
  edge
  [
    source 76
    target 65
    weight 1
  ]
  edge
  [
    source 76
    target 66
    weight 1
  ]
  edge
  [
    source 69
    target 68
    weight 6
  ]
  edge
  [
    source 70
    target 68
    weight 4
  ]
  edge
  [
    source 71
    target 68
    weight 2
  ]
  edge
  [
    source 75
    target 68
    weight 3
  ]
  edge
  [
    source 70
    target 69
    weight 4
  ]
  edge
  [
    source 71
    target 69
    weight 2
  ]
  edge
  [
    source 75
    target 69
    weight 3
  ]
  edge
  [
    source 71
    target 70
    weight 2
  ]
  edge
  [
    source 75
    target 70
    weight 1
  ]
  edge
  [
    source 75
    target 71
    weight 1
  ]
  edge
  [
    source 74
    target 73
    weight 3
  ]
]
