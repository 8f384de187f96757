// Package admit tells what the API server would refuse about a CustomResourceDefinition, by the API server's own code: that of
// apiextensions, with its CEL compiler and its estimate of what rules cost.
//
// Guaranteed: a verdict depends on nothing but the definition. Not guaranteed: that a cluster agrees which is of another version of
// Kubernetes than the one this program is built with, or which has definitions already that the new one is an update of.
//
// It is the one package of the generators that links Kubernetes, whose packages take longer to initialise than most runs. So package
// start leaves it out, and asks only for definitions with something to ask about.
package admit
