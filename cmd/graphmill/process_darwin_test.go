package main

// fionread asks how many bytes a pipe has. x/sys does not name it.
const fionread = 0x4004667f
