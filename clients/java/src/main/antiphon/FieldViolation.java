package antiphon;

/**
 * A field that breaks its rule.
 *
 * @param field the field's path in the request, such as {@code messages[3].id}
 * @param description what is wrong with it, for people
 */
public record FieldViolation(String field, String description) {}
