import Type from 'typebox'
import { recordedOutcomes } from '../../../domain/credits/charge.ts'
import { orNull, unixTime } from '../../managed-fields.ts'
import { listOf, listQuery, pageExample } from '../../list.ts'

export const LedgerQuery = listQuery({})

const Receipt = Type.Object({
  request_id: Type.String(),
  project_id: Type.String(),
  api_key_id: Type.String(),
  model: Type.String(),
  outcome: Type.Enum([...recordedOutcomes]),
  input_tokens: Type.Integer(),
  cache_read_tokens: Type.Integer(),
  cache_write_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  token_source: Type.Enum(['reported', 'estimated'], { description: 'Counted by the upstream, or by us.' }),
  rates: Type.Object(
    {
      input: Type.Number(),
      cache_read: Type.Number(),
      cache_write: Type.Number(),
      output: Type.Number(),
      version: Type.String(),
    },
    { description: 'Credits per million tokens, as they were.' },
  ),
})

export const LedgerEntryObject = Type.Object({
  id: Type.String(),
  object: Type.Literal('organization.credit_entry'),
  created_at: unixTime('When it was written.'),
  kind: Type.Enum(['grant', 'payment', 'usage']),
  credits: Type.Number({ description: 'Positive: came in. Negative: was used.' }),
  ref: Type.String({ description: 'Of the grant or payment; the id of the request.' }),
  note: Type.String(),
  receipt: orNull(Receipt, 'Of a use.'),
})

const example = {
  id: 'cre_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'organization.credit_entry',
  created_at: 1_767_225_600,
  kind: 'grant',
  credits: 10_000,
  ref: 'start',
  note: 'starting credits',
  receipt: null,
}

export const LedgerList = listOf(LedgerEntryObject, pageExample(example))
