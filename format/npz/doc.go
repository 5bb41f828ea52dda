// Package npz reads NumPy's .npz files: zip archives of .npy arrays, as numpy.savez, numpy.savez_compressed and
// scipy.sparse.save_npz write them.
//
// Open reads the directory of an archive and checks it. Files gives its arrays the names of files, so that whatever
// reads .npy files by offset reads them too. An array that is stored without compression is read in place. Other
// arrays, and those in big-endian or in Fortran order, are written once to an unnamed temporary file, as
// little-endian arrays in C order.
//
// An archive is hostile until checked. Open refuses more than MaxMembers members, a directory of more than 64 MiB,
// names that occur twice, members that overlap and encrypted members. An array must have exactly the bytes that its
// .npy header promises. A member of more than 4 GiB that is more than 256 times as large as its compressed bytes is
// refused, and so is one that does not fit the disk. Names of members are keys only: no file ever gets one. Pickles
// are never loaded. The checksum of an array is checked before it is used: one that is stored is read once for it.
//
// Memory: the directory; while an array is written, 1 MiB, and 64 MiB in Fortran order.
//
// The API may change in any version: see package format.
package npz
