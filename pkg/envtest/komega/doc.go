// Package komega reads and writes Kubernetes objects in the words of Gomega.
//
// A [Komega] makes functions for gomega.Eventually and gomega.Expect: each reads an object anew whenever it is called.
//
//	komega.SetClient(k8sClient)
//	Eventually(komega.Object(deployment)).Should(HaveField("Status.ReadyReplicas", BeEquivalentTo(3)))
//	Eventually(komega.Update(deployment, func() { deployment.Spec.Paused = true })).Should(Succeed())
//
// [EqualObject] matches an object field by field; [IgnorePaths] and [MatchPaths] say which fields count.
//
// # Guarantees
//
// A function that Update or UpdateStatus made reads the object, changes it and writes it: a conflict is an error of that call, and the
// next call starts from what the server has by then. A failed match lists every field that differs, by its path.
//
// # What is not guaranteed
//
// The package's own functions share one client and context for the process, as their names promise; set them before tests run, or use New.
// Functions write into the object they were made for, so one is used by one goroutine at a time.
package komega
