// Package controller brings about what Guestbook objects ask for.
//
// Its noun is the tier: a Deployment and a Service of the same name, NAME-leader, NAME-follower or NAME-frontend. A guestbook has
// one of each, and owns them.
//
// A Reconcile applies the tiers with server-side apply: the fields set here are this controller's, all others are left to whoever sets
// them.
package controller
