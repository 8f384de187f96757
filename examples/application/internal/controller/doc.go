// Package controller brings about what Application objects ask for: for each a Deployment and a Service of its name, which it owns, and a
// status that says how many of its pods are ready.
//
// A Reconcile looks at one Application as it is now and writes what differs. What others add to the Deployment and the Service stays. It
// relies on the webhooks for nothing: an object that came in without them has the same defaults.
package controller
