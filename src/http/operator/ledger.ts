import Type, { type Static } from 'typebox'
import { toUnixSeconds } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { LedgerVerificationRun, LedgerVerifier } from '../../domain/credits/ledger-verifier.ts'
import { integer, text } from '../described.ts'
import { orNull } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import { installationRoute } from './route.ts'

const LedgerReport = Type.Object(
  {
    organizations: integer('Organizations that were checked.'),
    entries: integer('Ledger entries that were checked.'),
    charges: integer('Charges that were checked.'),
    slices: integer('Slices of credits that were checked.'),
    continued: integer('Organizations that continued from a checkpoint, so that older rows were not checked.'),
    broken: orNull(
      Type.Object(
        { table: text('Its table.'), id: text('Its id.'), says: text('What is wrong with it.') },
        { title: 'InconsistentRow' },
      ),
      'The first row that is inconsistent with the others.',
    ),
  },
  { title: 'LedgerReport' },
)

export const LedgerVerificationObject = Type.Object(
  {
    state: Type.Enum(['running', 'completed', 'failed'], { description: 'Whether it runs, and how it ended.' }),
    started_at: integer('When it was started, in Unix seconds.'),
    since_checkpoint: Type.Boolean({
      description: 'Whether it checks only what was written after the last full verification.',
    }),
    checked: integer('Charges and entries that were read so far.'),
    total: integer('About how many charges and entries there are.'),
    error: orNull(text('Why it failed.'), 'Null unless it failed.'),
    report: orNull(LedgerReport, 'What was checked and found. Null unless it is completed.'),
  },
  {
    title: 'LedgerVerification',
    examples: [
      {
        state: 'completed',
        started_at: 1_760_000_000,
        since_checkpoint: false,
        checked: 23,
        total: 23,
        error: null,
        report: { organizations: 1, entries: 12, charges: 11, slices: 1, continued: 0, broken: null },
      },
    ],
  },
)

const VerifyLedgerBody = Type.Object(
  {
    since_checkpoint: Type.Optional(
      Type.Boolean({
        description: 'Check only what was written after the last full verification that found no inconsistency.',
      }),
    ),
  },
  { title: 'LedgerVerificationStart' },
)

const path = '/operator/ledger/verification'
const answer = { description: 'The verification.', schema: LedgerVerificationObject }

/** The check of the ledger of all organizations. */
export const ledgerRoutes = (ledgerVerifier: LedgerVerifier): Route[] => [
  installationRoute({
    name: 'startLedgerVerification',
    method: 'POST',
    path,
    summary: 'Verify the ledger',
    description:
      'Starts to compute every balance, slice and receipt again from the entries. Returns the running verification if there is one.',
    body: VerifyLedgerBody,
    answer,
    operation: async ({ body }) => present(ledgerVerifier.start(body.since_checkpoint ?? false)),
  }),
  installationRoute({
    name: 'getLedgerVerification',
    method: 'GET',
    path,
    summary: 'Read the verification of the ledger',
    description: 'The running verification, or the last one since the server started.',
    answer,
    async operation() {
      const latest = ledgerVerifier.latest()
      if (latest) return present(latest)
      throw new Fault('not_found', 'not_found', `No verification was started yet: send POST ${path}.`)
    },
  }),
]

const present = ({ state, startedAtMs, checked, total, error, result, ...run }: LedgerVerificationRun) => ({
  state,
  started_at: toUnixSeconds(startedAtMs),
  since_checkpoint: run.isSinceCheckpoint,
  checked,
  total,
  error,
  report: result && {
    organizations: result.organizations,
    entries: result.entries,
    charges: result.charges,
    slices: result.slices,
    continued: result.continued,
    broken: result.broken,
  },
})

export type LedgerVerificationBody = Static<typeof LedgerVerificationObject>
export type LedgerReportBody = NonNullable<LedgerVerificationBody['report']>
