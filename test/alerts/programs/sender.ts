// Writes an alert to the outbox, unless there is one, and then sends it by a webhook until it is killed.
import { createWebhookSender } from '../../../src/adapters/alerts/http-channel.ts'
import { createAddressGuard } from '../../../src/adapters/network/address-guard.ts'
import { alertStore } from '../../../src/adapters/stores/sql/alerts/alerts.ts'
import { alertOutbox, releaseAlertLeases } from '../../../src/adapters/stores/sql/alerts/outbox.ts'
import { openSqlite } from '../../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { repeat, systemClock } from '../../../src/base/clock.ts'
import { createIds } from '../../../src/base/ids.ts'
import { systemRandom } from '../../../src/base/random.ts'
import { createAlertSenders } from '../../../src/domain/alerts/delivery.ts'
import { createSendAlert } from '../../../src/domain/alerts/send-alert.ts'
import { alertEncryption, breachOf } from '../../support/alert-scene.ts'

const [dataDir = '', task = ''] = process.argv.slice(2)
const [clock, random] = [systemClock, systemRandom]
const database = await openSqlite({ dataDir })
await releaseAlertLeases(database)
const ids = createIds(clock, random)

if (task === 'write') {
  const sendAlert = createSendAlert({ ids, clock })
  const alert = { ...breachOf(), kind: 'denials', threshold: 20, unit: 'percent' } as const
  await database.transaction((tx) => sendAlert(alertStore(tx, { ids, clock }), 'org_1', alert))
  process.stdout.write('written\n')
} else {
  const guard = createAddressGuard({ allowNetworks: ['127.0.0.0/8'] })
  const open = createWebhookSender({ guard, clock, network: (request) => request })
  const senders = createAlertSenders({
    outbox: alertOutbox({ database, clock, encryption: alertEncryption, owner: ids('node'), leaseMs: 60_000 }),
    send: ({ channel, message }, signal) => open(channel.openConfig())({ ...message, url: null }, signal),
    clock,
    random,
    onAttempt: (_claimed, { state }) => process.stdout.write(`${state}\n`),
    onError: (error) => process.stderr.write(`${String(error)}\n`),
  })
  repeat(clock, senders.startDue, 20)
  process.stdout.write('sending\n')
}
setInterval(() => undefined, 1_000_000)
