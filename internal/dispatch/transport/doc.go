// Package transport brings the parts of a partitioned folder to the machines that
// train on them, over SFTP.
//
// ReadIPConfig reads the list of machines, the ip_config that DGL's own programs
// read: part p of n goes to machine p mod n. A machine gets its part folders, the
// partition config (under both of its names) and a manifest of these files, in
// Options.RemoteDir; nothing of the other machines' parts. Two lines with one
// address are one machine. Load divides the folder, Shipment.Send brings it; Check logs in
// and goes, before the work.
//
// # Whole or nothing
//
// A file is written as .NAME.partial beside its place, read back block by block,
// its xxh3 compared with that of the manifest here, brought to the disk where the
// server can (fsync@openssh.com), and renamed. The config follows the parts, the
// manifest follows the config: without the manifest a folder is not whole, and
// `graphmill verify` on the machine finds any changed bit with it.
//
// Send does not repeat what is done. Blocks that are there already, from a
// connection that was cut or from an earlier run, are read back, compared and
// kept. A connection that is lost is made again, with growing pauses, for as long
// as attempts bring any block forward. A folder that holds the whole output, for
// the machine is this one or shares its disk, is compared and left as it is.
//
// # Trust
//
// A machine's key must be in known_hosts; there is no way to go on without. Keys
// of the user come from identity files and the agent; passwords and
// ~/.ssh/config are not read, nor certificates of hosts. No text of the user's
// reaches a shell: the session runs the sftp subsystem and nothing else.
//
// The package imports store, format/dgl and internal.
package transport
