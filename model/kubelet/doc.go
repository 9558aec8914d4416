// Package kubelet understands what a kubelet says about itself: the message of a
// node's Ready condition, wherever it was read (the Node, or the Machine that
// repeats it on the Supervisor), and however it was damaged on the way (brackets
// lost, lines wrapped, commas without a space).
//
// It only reads text. Start reading at [Parse] and [Words].
package kubelet
