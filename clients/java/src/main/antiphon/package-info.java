/**
 * What a Java client of Antiphon needs beside the generated stubs.
 *
 * <ul>
 *   <li>{@link antiphon.AntiphonException}: what a failed call says, from its gRPC status.
 *   <li>{@link antiphon.BranchWatch}: a branch's changes, resumed by itself after a cut.
 *   <li>{@link antiphon.SnapshotAssembler}: a snapshot from its frames, verified.
 *   <li>{@link antiphon.MessagesDigest}: the digest of what was compiled.
 *   <li>{@link antiphon.RequestIds}: ids that make a write safe to send again.
 * </ul>
 *
 * <p>The stubs are in {@code antiphon.message.v1}, {@code antiphon.history.v1} and
 * {@code antiphon.compiler.v1}; what their calls promise is written in the protos.
 */
package antiphon;
