import { asList, asRecord, asRecords, asText } from '../json-values.ts'

/** A token's text. Tokens of the same rank form one text. */
type Token = { readonly text: string; readonly rank: string }

/**
 * The out-of-band text of a `logprobs` list. The tokens themselves repeat the response, so they are skipped if they join to
 * a text that an event contains. The alternatives of one rank are read as one text over all tokens.
 */
export function* outOfBandTokens(tokens: readonly unknown[], isInEvents: (text: string) => boolean): Generator<Token> {
  const records = asRecords(tokens)
  const areInEvents = records.length === tokens.length && isInEvents(records.map(({ token }) => asText(token)).join(''))
  for (const one of tokens) {
    const record = asRecord(one)
    if (record === undefined) {
      if (typeof one === 'string') yield { text: one, rank: 'token' }
      continue
    }
    for (const [name, value] of Object.entries(record)) {
      if (name === 'top_logprobs') yield* alternatives(asList(value), asText(record['token']))
      else if (name === 'bytes') yield* mismatchedBytes(value, record['token'])
      else if (typeof value === 'string' && !(name === 'token' && areInEvents)) yield { text: value, rank: name }
    }
  }
}

function* alternatives(all: readonly unknown[], chosen: string): Generator<Token> {
  for (const [rank, one] of asRecords(all).entries()) {
    for (const [name, value] of Object.entries(one)) {
      if (name === 'bytes') yield* mismatchedBytes(value, one['token'])
      else if (typeof value === 'string' && !(name === 'token' && value === chosen))
        yield { text: value, rank: `${name}.${rank}` }
    }
  }
}

/** The `bytes` of a token repeat its text. Other bytes are out-of-band text. */
function* mismatchedBytes(bytes: unknown, token: unknown): Generator<Token> {
  const text = Buffer.from(asList(bytes).map(Number)).toString('utf8')
  if (text !== '' && text !== token) yield { text, rank: 'bytes' }
}
