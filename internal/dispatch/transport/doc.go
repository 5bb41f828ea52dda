// Package transport sends the parts of a partitioned folder, over SFTP, to the machines that
// train on them.
//
// ReadIPConfig reads the list of machines in the ip_config format of DGL's own programs. With
// n machines, part p goes to machine p mod n. A machine gets, in Options.RemoteDir, its part folders, the
// partition config (under both of its names) and a manifest of these files, and nothing of the
// other machines' parts. Two lines with one address are one machine. Load divides the folder and
// Shipment.Send sends it. Check logs in and out again, and is called before the parts are made.
//
// # Whole or nothing
//
// A file is written as .NAME.partial in its folder and read back block by block. Its xxh3 checksum
// is compared with the checksum in the local manifest. Then the file is synced to the disk, if the server
// can (fsync@openssh.com), and renamed. The config comes after the parts, the manifest after the
// config: a folder without a manifest is not whole, and with it 'graphmill verify' on the machine
// finds any changed bit.
//
// Send does not repeat finished work. Blocks that a lost connection or an earlier run left are read
// back, compared and kept. Send opens a lost connection again, after growing pauses, as long as
// the attempts make progress. A folder that holds the whole output, because the machine is the
// local one or shares its disk, is compared and not changed.
//
// # Trust
//
// A machine's key must be in known_hosts; no option turns this off. Keys of the user come from
// identity files and the agent. Passwords, ~/.ssh/config and host certificates are not used. No text
// of the user reaches a shell: the session runs the sftp subsystem and nothing else.
package transport
