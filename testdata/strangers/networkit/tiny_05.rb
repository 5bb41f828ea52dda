Small general matrix used as Example 1                                  EXAMPLE1
             5             1             1             3             0
RUA                        5             5            11
(3I6)           (11I3)          (5E15.8)           
  1  4  6  8 10 12
  1  3  5  1  4  2  5  1  4  2  5
 1.0            2.0            3.0           -4.0            5.0
-6.0           -7.0           -8.0           -9.0            10.0
11.0
