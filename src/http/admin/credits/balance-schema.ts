import Type, { type Static } from 'typebox'

const ref = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[^\\u0000]*$',
  description: 'Your reference. The same reference counts once.',
  examples: ['invoice-2026-001'],
})

const amount = {
  credits: Type.Number({ description: 'More than 0.' }),
  ref: Type.Optional({ ...ref, description: 'Your reference. The same reference counts once. Default: a new one.' }),
  reason: Type.Optional(
    Type.String({ maxLength: 1000, pattern: '^[^\\u0000]*$', description: 'The `note` of the ledger entry.' }),
  ),
}

export const CreateGrant = Type.Object(amount, {
  title: 'GrantCreate',
  additionalProperties: false,
  examples: [{ credits: 500, ref: 'welcome', reason: 'gift' }],
})

export const CreateCorrection = Type.Object(amount, {
  title: 'CorrectionCreate',
  additionalProperties: false,
  examples: [{ credits: 500, ref: 'welcome-twice', reason: 'granted twice' }],
})

export const CreatePayment = Type.Object(
  {
    usd: Type.Number({ description: 'More than 0.' }),
    ref,
    credits: Type.Optional(Type.Number({ description: 'Default: as many as the payment buys.' })),
  },
  { title: 'PaymentCreate', additionalProperties: false, examples: [{ usd: 20, ref: 'invoice-2026-001' }] },
)

const balance = {
  organization_id: Type.String({ description: 'The organization.' }),
  remaining_credits: Type.Number({ description: 'What can still be spent, in whole credits.' }),
  held_credits: Type.Number({
    description: 'The part of the remaining credits that is reserved for requests, in advance.',
  }),
  debt_credits: Type.Number({ description: 'What responses cost beyond the balance. A grant pays it first.' }),
  granted_credits: Type.Number({ description: 'All grants and payments, less corrections.' }),
  spent_credits: Type.Number({ description: 'What requests have cost.' }),
  spent_usd: Type.Number({ description: 'The same in dollars.' }),
  credit_usd: Type.Number({ description: 'The price of one credit in dollars.' }),
}

const example = {
  organization_id: 'org_01k9z8y7x6w5v4t3s2r1q0p9n7',
  remaining_credits: 9500,
  held_credits: 475,
  debt_credits: 0,
  granted_credits: 10_000,
  spent_credits: 500,
  spent_usd: 0.5,
  credit_usd: 0.001,
}

export const BalanceObject = Type.Object(balance, { title: 'Balance', examples: [example] })

export const BalanceChange = Type.Object(
  {
    ...balance,
    is_new: Type.Boolean({ description: 'False: this reference counted before, and nothing was changed.' }),
  },
  { title: 'BalanceChange', examples: [{ ...example, is_new: true }] },
)

export type BalanceBody = Static<typeof BalanceObject>
/** `is_new` is false if the reference of the grant, correction or payment counted before. */
export type GrantBody = BalanceBody & { readonly is_new: boolean }
