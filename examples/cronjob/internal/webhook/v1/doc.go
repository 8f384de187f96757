// Package v1 admits CronJob objects, in whichever version they come, and converts them from one version to the other.
//
// Guarantees: an object that is admitted has a schedule that the controller can follow and a name that leaves room for those of its Jobs;
// an object that is written in one version and read in the other loses nothing.
package v1
