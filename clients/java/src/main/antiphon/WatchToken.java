package antiphon;

/**
 * Where a watch stands: keep it beside what was made of the changes so far.
 *
 * @param revision the last revision seen; 0 for none
 * @param incarnation the incarnation it belongs to, without which a branch restored from a backup
 *     would pass for the former one; empty with revision 0
 */
public record WatchToken(long revision, String incarnation) {
  /** Before everything: every change that the branch retains is still to come. */
  public static final WatchToken BEGINNING = new WatchToken(0, "");
}
