/** Straight and typographic quotes around at least one character: a phrase to look for. */
const quotedPhrase = /"[^"]+"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|‘[^’]+’|(?<!\p{L})'[^']+'(?!\p{L})/u

/** Words for the moderation categories, as people write them. */
const category =
  /\b(self[- ]?harm|suicid(e|al)|harass(ment|ing)?|bull(y|ying)|hate([- ]speech)?|hateful|illicit|illegal|sexual|minors)\b/i

/** Words for the kinds of personal data that are recognised by their form. */
const personalData =
  /\b(e-?mails?( address(es)?)?|phone numbers?|telephone numbers?|(credit |debit |payment )?card numbers?|iban|bank account numbers?|social security numbers?|ssn|ip address(es)?|passport numbers?|api keys?|passwords?|personal data|pii)\b/i

/**
 * Whether a rule in plain language names something that can be found without understanding it: a quoted phrase, a
 * moderation category, or a kind of personal data.
 */
export const namesSomething = (rule: string): boolean =>
  quotedPhrase.test(rule) || category.test(rule) || personalData.test(rule)
