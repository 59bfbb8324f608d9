// Package scenario runs the shared scenarios of tests/contract/scenarios, whose
// README is the specification of everything here.
package scenario
