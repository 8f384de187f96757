// Package v1alpha1 admits Application objects.
//
// Guarantees: what is admitted has a number of replicas and a port; its image is one that is the same tomorrow; and a change of the image
// stays with the program.
package v1alpha1
