// Package project reads and writes PROJECT, the file in the root of an operator's repository that says what was
// scaffolded in it, in the format of Kubebuilder v4 (version "3").
//
// Its nouns: a [Project] has settings (domain, repository, whether groups have directories of their own) and [Resource]s;
// a Resource is one version of one kind, whose types the project has (API), takes from elsewhere (Core, External), reconciles
// (controllers) or admits (Webhooks).
//
//	p, err := project.Find(".")       // the project that a directory is in
//	fmt.Println(p.Root(), p.ProjectName)
//	for _, r := range p.Resources { ... }
//
// # Guarantees
//
// What this package does not know, such as what plugins keep, is kept as it is when the file is written; so are the comment
// at its head and the order of the resources. Kubebuilder reads what is written here.
//
// # What is not guaranteed
//
// Comments below the head are lost when the file is written. Nothing is locked.
package project
