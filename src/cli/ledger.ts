import type { LedgerVerificationBody } from '../http/operator/ledger.ts'
import { verifyLedger } from '../app/ledger-verification.ts'
import { plural } from '../base/plural.ts'
import { readArguments } from './arguments.ts'
import { unknownSubcommand, type Command } from './command.ts'
import { runOnServer } from './run-on-server.ts'

const options = { json: { type: 'boolean' }, 'since-checkpoint': { type: 'boolean' } } as const

export const ledger: Command = {
  summary: 'Verify the credit ledger',
  usage: `gatehouse ledger verify [--since-checkpoint] [--json]

Computes every balance, slice and receipt again from the entries, beside the requests of a running server, and shows the
progress on a terminal. If a row is inconsistent, prints the first one and exits with 1.
--since-checkpoint checks only what was written after the last full verification. It does not see changes of older rows.`,
  async run(context) {
    const { values, positionals } = readArguments(context.args, options, 1)
    const [verb = 'verify'] = positionals
    if (verb !== 'verify') throw unknownSubcommand('ledger', verb)
    return runOnServer(context, values, async ({ client }) => {
      const report = await verifyLedger(client, {
        isSinceCheckpoint: values['since-checkpoint'] ?? false,
        onProgress: (running) => context.progress?.(progressOf(running)),
      })
      context.progress?.('')
      const { organizations, entries, charges, slices, continued, broken } = report
      const scope = continued > 0 ? `, since the last checkpoint of ${plural(continued, 'organization')}` : ''
      const size = `${organizations} accounts, ${entries} entries, ${charges} charges, ${slices} slices${scope}`
      if (broken === null) return { json: report, text: `The ledger is consistent: ${size}.` }
      return { json: report, text: `${broken.table} ${broken.id} ${broken.says} (of ${size}).`, isFailed: true }
    })
  },
}

const progressOf = ({ checked, total }: LedgerVerificationBody): string =>
  total === 0 ? 'Verifying the ledger' : `Verifying the ledger: ${checked} of about ${total} rows`
