import Type from 'typebox'
import { integer, number, text } from '../described.ts'
import { limitScopes } from '../../domain/limits/scopes.ts'
import { idText, orNull } from '../resources/fields.ts'

const ref = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Your reference. The same reference counts once.',
  examples: ['invoice-2026-001'],
})

export const CreateGrant = Type.Object(
  {
    credits: Type.Number({ description: 'More than 0.' }),
    ref: Type.Optional(ref),
    note: Type.Optional(text('Shown in the ledger.', { maxLength: 1000 })),
  },
  { title: 'GrantCreate', additionalProperties: false, examples: [{ credits: 500, ref: 'welcome', note: 'gift' }] },
)

export const CreatePayment = Type.Object(
  {
    usd: Type.Number({ description: 'More than 0.' }),
    ref,
    credits: Type.Optional(Type.Number({ description: 'Default: as many as the payment buys.' })),
  },
  { title: 'PaymentCreate', additionalProperties: false, examples: [{ usd: 20, ref: 'invoice-2026-001' }] },
)

const balance = {
  organization_id: text('The organization.'),
  remaining_credits: number('Credits that can be spent.'),
  debt_credits: number('Credits that were used beyond the balance.'),
  granted_credits: number('All credits granted and bought.'),
  spent_credits: number('All credits used.'),
  spent_usd: number('Their price in dollars.'),
}

const example = {
  organization_id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7',
  remaining_credits: 9500,
  debt_credits: 0,
  granted_credits: 10_000,
  spent_credits: 500,
  spent_usd: 0.5,
}

export const BalanceObject = Type.Object(balance, { title: 'Balance', examples: [example] })

export const GrantAnswer = Type.Object(
  { ...balance, is_new: Type.Boolean({ description: 'False: this reference counted before, and nothing was added.' }) },
  { title: 'GrantResult', examples: [{ ...example, is_new: true }] },
)

const limit = (description: string) =>
  Type.Optional(integer(description, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const limits = Type.Object(
  {
    rpm: limit('Requests per minute.'),
    rpd: limit('Requests per day.'),
    tpm: limit('Tokens per minute.'),
    tpd: limit('Tokens per day.'),
    concurrent: limit('Concurrent requests.'),
  },
  {
    title: 'LimitValues',
    additionalProperties: false,
    description: '0 removes a limit. Without any, the limits of the tier apply.',
  },
)

export const SetLimits = Type.Object(
  {
    project_id: Type.Optional(idText('Sets the limits of this project.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')),
    api_key_id: Type.Optional(idText('Sets the limits of this API key.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8')),
    limits,
  },
  { title: 'LimitOverrideUpdate', additionalProperties: false, examples: [{ limits: { rpm: 600 } }] },
)

export const OverrideObject = Type.Object(
  {
    subject_id: text('The organization, project or API key.'),
    scope: Type.Enum([...limitScopes], { description: 'What it is.' }),
    limits,
  },
  {
    title: 'LimitOverride',
    examples: [{ subject_id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7', scope: 'organization', limits: { rpm: 600 } }],
  },
)

export const LedgerVerificationObject = Type.Object(
  {
    organizations: integer('Organizations that were checked.'),
    entries: integer('Ledger entries that were checked.'),
    charges: integer('Charges that were checked.'),
    slices: integer('Slices of credits that were checked.'),
    broken: orNull(
      Type.Object({ table: text('Its table.'), id: text('Its id.'), says: text('What is wrong with it.') }),
      'The first row that is inconsistent with the others.',
    ),
  },
  { title: 'LedgerVerification', examples: [{ organizations: 1, entries: 12, charges: 11, slices: 1, broken: null }] },
)
