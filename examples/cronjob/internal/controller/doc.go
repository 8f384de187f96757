// Package controller brings about what CronJob objects ask for.
//
// Its nouns:
//
//   - A run is a moment at which a Job is due by the schedule. A Job remembers its run in an annotation.
//   - The children of a CronJob are the Jobs that it controls: active, succeeded or failed.
//   - The history is what is kept of the children that have ended.
//
// Guarantees: for one run there is at most one Job, since its name is made of the run's time. Runs that were missed, because the manager was
// down or a Job of before had to end first, are made up for by one Job, the latest's, unless it is later than the starting deadline.
//
// Not guaranteed: that each missed run gets a Job.
package controller
