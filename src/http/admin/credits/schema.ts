import Type, { type Static } from 'typebox'
import { integer, number, text } from '../../described.ts'
import { writtenOutcomes } from '../../../domain/credits/charge.ts'
import { ledgerEntryKinds } from '../../../domain/credits/reports.ts'
import { tokenSources } from '../../../domain/inference/events.ts'
import { idText, orNull, timeFilter, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'

export const LedgerFilterFields = {
  kind: Type.Optional(Type.Enum([...ledgerEntryKinds], { description: 'Only entries of this kind.' })),
  project_id: Type.Optional(idText('Only usage of this project.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')),
  request_id: Type.Optional(idText('Only the usage of this request.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8')),
  from: timeFilter('Only entries at this Unix time or later.'),
  to: timeFilter('Only entries before this Unix time.'),
}

export const LedgerQuery = listQuery(LedgerFilterFields)

const Receipt = Type.Object(
  {
    request_id: text('The request that was charged.'),
    project_id: text('The project of the request.'),
    api_key_id: text('The API key of the request.'),
    model: text('The model that answered.'),
    outcome: Type.Enum([...writtenOutcomes], { description: 'How the request ended.' }),
    input_tokens: integer('Input tokens, without those read from or written to a cache.'),
    cache_read_tokens: integer('Input tokens read from a cache.'),
    cache_write_tokens: integer('Input tokens written to a cache.'),
    output_tokens: integer('Output tokens.'),
    token_source: Type.Enum([...tokenSources], {
      description: 'Whether the upstream reported the counts or the gateway estimated them.',
    }),
    reported_tokens: orNull(
      Type.Integer(),
      'The total that the upstream reported, if it was implausible and the gateway charged its own count instead.',
    ),
    rates: Type.Object(
      {
        input: number('For input tokens.'),
        cache_read: number('For tokens read from a cache.'),
        cache_write: number('For tokens written to a cache.'),
        output: number('For output tokens.'),
        version: text('Names this set of rates.'),
      },
      { description: 'Credits per million tokens at the time of the request.' },
    ),
  },
  { title: 'Receipt' },
)

export const LedgerEntryObject = Type.Object(
  {
    id: text('The id of the entry.'),
    object: Type.Literal('organization.credit_entry'),
    created_at: unixTime('Time of the entry.'),
    kind: Type.Enum([...ledgerEntryKinds], { description: 'What changed the balance.' }),
    credits: Type.Number({ description: 'Positive for grants and payments, negative for usage.' }),
    ref: Type.String({ description: 'The reference of the grant or payment, or the id of the request.' }),
    note: text('The note of the grant; empty for other entries.'),
    receipt: orNull(Receipt, 'Tokens and rates of a `usage` entry; null for grants and payments.'),
  },
  { title: 'LedgerEntry' },
)

const usageExample = {
  id: 'cre_01k9z8y7x6w5v4t3s2r1q0p9n9',
  object: 'organization.credit_entry',
  created_at: 1_767_229_200,
  kind: 'usage',
  credits: -13.2,
  ref: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
  note: '',
  receipt: {
    request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
    project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8',
    api_key_id: 'key_01k9z8y7x6w5v4t3s2r1q0p9n8',
    model: 'gatehouse-echo',
    outcome: 'answered',
    input_tokens: 1200,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 640,
    token_source: 'reported',
    reported_tokens: null,
    rates: { input: 3000, cache_read: 300, cache_write: 3750, output: 15_000, version: 'b1946ac92492' },
  },
}

const grantExample = {
  id: 'cre_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'organization.credit_entry',
  created_at: 1_767_225_600,
  kind: 'grant',
  credits: 10_000,
  ref: 'start',
  note: 'starting credits',
  receipt: null,
}

export const ledgerExample = usageExample as Static<typeof LedgerEntryObject>
export const LedgerList = listOf('LedgerEntryList', LedgerEntryObject, pageExample(usageExample, grantExample))

export type LedgerEntryBody = Static<typeof LedgerEntryObject>
