package antiphon.scenarios;

import com.google.common.hash.Hashing;

/** SHA-256 in lower-case hexadecimal. */
final class Sha256 {
  private Sha256() {}

  static String hex(byte[] bytes) {
    return Hashing.sha256().hashBytes(bytes).toString();
  }
}
