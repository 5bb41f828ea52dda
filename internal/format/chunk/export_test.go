package chunk

// Sector is sector.
const Sector = sector

// Parse is parse.
var Parse = parse
