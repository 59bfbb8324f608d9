/**
 * The runner of the shared scenarios: their format is {@code tests/contract/scenarios/README.md}.
 */
package antiphon.scenarios;
