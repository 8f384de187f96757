// Package election lets one of several candidates lead at a time, by a lock that they compete for: a record that says who holds it, since
// when and for how long.
//
// A candidate takes a record that nobody holds, or whose holder has not renewed it for as long as the record says, by the candidate's own
// clock: clocks are never compared. The leader renews it, and gives the leadership up when it could not for a while that ends before the
// record runs out for the others.
//
// The records, the times between tries and the metrics' names are those of k8s.io/client-go/tools/leaderelection, whose electors take part in
// the same elections. That package is not used here, for it links all of client-go's informers into each manager: two fifths of what the linker
// has to read. And its electors cannot be told that a lock has been given back; these can.
//
// # What is not guaranteed
//
// An election is no fence: a leader whose process is stopped for longer than its record lasts, and goes on, may act for a moment beside its
// successor.
package election
