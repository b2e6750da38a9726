// Writes a fixed number of events and sends them to a webhook until it is killed. Its whole state is in its database.
import { repeat, systemClock } from '../../../src/base/clock.ts'
import { createIds } from '../../../src/base/ids.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { createAddressGuard } from '../../../src/adapters/network/address-guard.ts'
import { choiceOf, findSinkKind, openSink } from '../../../src/adapters/sinks/registry.ts'
import { createAuditAppender } from '../../../src/adapters/stores/sql/audit/chain.ts'
import { deliveryStore, releaseAllLeases } from '../../../src/adapters/stores/sql/exports/delivery.ts'
import { openSqlite } from '../../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { createAuditParts } from '../../../src/app/audit-parts.ts'
import { createJournal } from '../../../src/domain/audit/journal.ts'
import { createKeyring } from '../../../src/domain/server-secret/keyring.ts'
import { createSenders } from '../../../src/pipeline/export/senders.ts'
import { requestFacts } from '../../support/audit-log.ts'
import { killEncryption, killSecret } from '../kill-scene.ts'

const [dataDir = '', total = '0'] = process.argv.slice(2)
const leaseMs = 15_000
const clock = systemClock
const random = systemRandom
const database = await openSqlite({ dataDir })
await releaseAllLeases(database)
const ids = createIds(clock, random)
const { events } = createAuditParts({ clock, ids, keyring: createKeyring({ current: killSecret }) })
const webhook = findSinkKind('webhook')
if (!webhook) throw new Error('there is no webhook')
const guard = createAddressGuard({ allowNetworks: ['127.0.0.0/8'] })

const senders = createSenders({
  store: deliveryStore({ database, clock, events, encryption: killEncryption, owner: ids('node'), leaseMs }),
  clock,
  random: { ...random, fraction: () => Math.random() * 0.2 }, // shorter backoff for the test
  watermarks: { alarmAfterMs: Infinity, alarmAfterEvents: Infinity },
  leaseMs,
  open: ({ openConfig }) => ({
    ...openSink(webhook, openConfig(), { guard, clock, random, instance: 'test' }),
    choice: choiceOf(openConfig()),
  }),
  onOutcome: () => {},
  onError: (error) => process.stderr.write(`${String(error)}\n`),
})
repeat(clock, senders.startDue, 20)

const journal = createJournal({
  appender: createAuditAppender(database, events),
  events,
  clock,
  isAuditRequired: () => true,
  backlog: null,
  onLost: () => process.stdout.write('lost\n'),
})
process.stdout.write('ready\n')
for (let written = await countEvents(); written < Number(total); written += 100) {
  const acknowledged = await Promise.all(Array.from({ length: 100 }, () => record()))
  process.stdout.write(`wrote ${acknowledged.join(' ')}\n`)
}
setInterval(() => undefined, 1_000_000)

async function record(): Promise<string> {
  const id = ids('evt')
  await journal.record('org_1', () => requestFacts({}, clock), { id })
  return id
}

async function countEvents(): Promise<number> {
  const [row] = await database.read<{ sequence: number }>('select sequence from audit_chain')
  return row?.sequence ?? 0
}
