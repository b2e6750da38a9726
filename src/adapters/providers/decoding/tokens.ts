import { asList, asRecord, asRecords, asText } from '../json-values.ts'

/** A piece of text, and the line of tokens that it belongs to. */
type Token = { readonly text: string; readonly rank: string }

/**
 * What the log probabilities of tokens say beside the text. The tokens are the text once more where they spell a text that
 * is told. The alternatives of all tokens that have the same rank are one text.
 */
export function* tokensBeside(tokens: readonly unknown[], isTold: (text: string) => boolean): Generator<Token> {
  const records = asRecords(tokens)
  const areTold = records.length === tokens.length && isTold(records.map(({ token }) => asText(token)).join(''))
  for (const one of tokens) {
    const record = asRecord(one)
    if (record === undefined) {
      if (typeof one === 'string') yield { text: one, rank: 'token' }
      continue
    }
    for (const [name, value] of Object.entries(record)) {
      if (name === 'top_logprobs') yield* alternatives(asList(value), asText(record['token']))
      else if (name === 'bytes') yield* unlikeToken(value, record['token'])
      else if (typeof value === 'string' && !(name === 'token' && areTold)) yield { text: value, rank: name }
    }
  }
}

function* alternatives(all: readonly unknown[], chosen: string): Generator<Token> {
  for (const [rank, one] of asRecords(all).entries()) {
    for (const [name, value] of Object.entries(one)) {
      if (name === 'bytes') yield* unlikeToken(value, one['token'])
      else if (typeof value === 'string' && !(name === 'token' && value === chosen))
        yield { text: value, rank: `${name}.${rank}` }
    }
  }
}

/** The bytes of a token spell the token. */
function* unlikeToken(bytes: unknown, token: unknown): Generator<Token> {
  const text = Buffer.from(asList(bytes).map(Number)).toString('utf8')
  if (text !== '' && text !== token) yield { text, rank: 'bytes' }
}
