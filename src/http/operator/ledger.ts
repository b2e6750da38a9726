import Type from 'typebox'
import { integer, text } from '../described.ts'
import { orNull } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import type { OperatorParts } from './parts.ts'
import { installationRoute } from './route.ts'

export const LedgerVerificationObject = Type.Object(
  {
    organizations: integer('Organizations that were checked.'),
    entries: integer('Ledger entries that were checked.'),
    charges: integer('Charges that were checked.'),
    slices: integer('Slices of credits that were checked.'),
    broken: orNull(
      Type.Object(
        { table: text('Its table.'), id: text('Its id.'), says: text('What is wrong with it.') },
        { title: 'InconsistentRow' },
      ),
      'The first row that is inconsistent with the others.',
    ),
  },
  { title: 'LedgerVerification', examples: [{ organizations: 1, entries: 12, charges: 11, slices: 1, broken: null }] },
)

/** The check of the ledger of all organizations. */
export const ledgerRoutes = ({ reads }: OperatorParts): Route[] => [
  installationRoute({
    name: 'verifyLedger',
    method: 'GET',
    path: '/operator/ledger/verification',
    summary: 'Verify the ledger',
    description: 'Computes every balance, slice and receipt again from the entries.',
    answer: { description: 'What was checked.', schema: LedgerVerificationObject },
    operation: () => reads.ledger.verify(),
  }),
]
