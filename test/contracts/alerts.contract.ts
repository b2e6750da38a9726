import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { removeOldAlerts } from '../../src/adapters/stores/sql/alerts/alerts.ts'
import { failingUpstreams } from '../../src/adapters/stores/sql/alerts/failing-upstreams.ts'
import { releaseAlertLeases } from '../../src/adapters/stores/sql/alerts/outbox.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { dayMs, minuteMs } from '../../src/base/clock.ts'
import type { SendResult } from '../../src/domain/alerts/channel.ts'
import { breachOf, openAlertScene, type AlertScene } from '../support/alert-scene.ts'
import type { Engine } from '../support/engines.ts'

const page = { limit: 9, order: 'asc' } as const
const failed: SendResult = { kind: 'failed', answer: 'The receiver answered 500.' }

/** Alert channels, rules, episodes and the outbox, on every engine. */
export function alertContract({ name, skip, isParallel, open }: Engine): void {
  const withScene = (title: string, test: (scene: AlertScene, database: Database) => Promise<void>): void =>
    void it(title, async () => {
      await using database = await open()
      await test(await openAlertScene(database), database)
    })

  describe(`alert channels: ${name}`, { skip }, () => {
    withScene('are stored with encrypted secrets, each bound to its channel and field', async (scene, database) => {
      const channel = await scene.addChannel()
      const other = await scene.addChannel()
      const secrets = { secret: 'the-secret-of-the-channel-abcdef' }
      assert.deepEqual(await scene.within(({ channels }) => channels.secretsOf(channel)), secrets)
      const [row] = await database.read<{ sealed: Uint8Array }>('select sealed from alert_channel_secret')
      assert.ok(!Buffer.from(row?.sealed ?? []).includes('the-secret'))
      await database.write([
        { sql: 'delete from alert_channel_secret where channel_id = $1', params: [other.id] },
        {
          sql: 'update alert_channel_secret set channel_id = $2 where channel_id = $1',
          params: [channel.id, other.id],
        },
      ])
      await assert.rejects(scene.within(({ channels }) => channels.secretsOf(other)))
    })

    withScene('are found in their organization only', async ({ within, addChannel }) => {
      const channel = await addChannel()
      const foreign = await addChannel({ organizationId: 'org_2' })
      await within(async ({ channels }) => {
        assert.equal(await channels.find('org_1', foreign.id), undefined)
        assert.deepEqual(
          (await channels.list('org_1', page)).items.map(({ id }) => id),
          [channel.id],
        )
        assert.deepEqual(await channels.existing('org_1', [channel.id, foreign.id, 'chan_x']), [channel.id])
        assert.equal(await channels.count('org_2'), 1)
        assert.equal(await channels.remove({ ...foreign, organizationId: 'org_1' }), false)
      })
    })

    withScene('change only if the version is unchanged, and are removed with their messages', async (scene) => {
      const { within, addChannel, clock } = scene
      const channel = await addChannel()
      await within(({ alerts }) =>
        scene.sendAlert(alerts, 'org_1', { ...breachOf(), kind: 'spend', threshold: 5, unit: 'usd' }),
      )
      const changed = { ...channel, name: 'Changed', isPaused: true, version: 2, updatedAtMs: clock.nowMs() }
      assert.ok(await within(({ channels }) => channels.replace(changed, { secret: 'another' })))
      assert.ok(!(await within(({ channels }) => channels.replace(changed, {}))))
      const found = await within(({ channels }) => channels.find('org_1', channel.id))
      assert.deepEqual([found?.name, found?.isPaused, found?.health.waiting], ['Changed', true, 1])
      assert.ok(await within(({ channels }) => channels.remove(changed)))
      assert.equal(await within(({ channels }) => channels.find('org_1', channel.id)), undefined)
    })
  })

  describe(`alert rules: ${name}`, { skip }, () => {
    withScene('are stored with every setting, and found in their organization only', async ({ within, addRule }) => {
      const rule = await addRule({ filter: { name: 'project_id', id: 'proj_1' }, channelIds: ['chan_1'] })
      await addRule({ organizationId: 'org_2' })
      const [first, ...others] = (await within(({ rules }) => rules.list('org_1', page))).items
      assert.deepEqual([first, others], [{ ...rule, firing: [] }, []])
      assert.equal(await within(({ rules }) => rules.find('org_2', rule.id)), undefined)
      assert.deepEqual(await within(({ rules }) => rules.namesOfChannel('org_1', 'chan_1')), ['Many denials'])
      assert.deepEqual(await within(({ rules }) => rules.namesOfChannel('org_2', 'chan_1')), [])
      assert.equal(await within(({ rules }) => rules.hasSubject('org_1', { name: 'project_id', id: 'proj_1' })), false)
    })

    withScene('change only if the version is unchanged, and end their alerts when they are deleted', async (scene) => {
      const rule = await scene.addRule()
      await fire(scene)
      const changed = { ...rule, name: 'Changed', version: 2 }
      assert.ok(await scene.within(({ rules }) => rules.replace(changed)))
      assert.ok(!(await scene.within(({ rules }) => rules.replace(changed))))
      assert.equal((await scene.within(({ rules }) => rules.find('org_1', rule.id)))?.firing.length, 1)
      assert.ok(await scene.within(({ rules }) => rules.remove(changed, scene.clock.nowMs())))
      const [alert] = (await scene.within(({ alerts }) => alerts.list('org_1', page))).items
      assert.deepEqual([alert?.ruleId, alert?.endedAtMs], [null, scene.clock.nowMs()])
    })
  })

  describe(`episodes of alert rules: ${name}`, { skip }, () => {
    withScene(
      'are sent once when they begin and once when they are over, with an audit event for each',
      async (scene, database) => {
        const channel = await scene.addChannel()
        const rule = await scene.addRule({ channelIds: [channel.id, 'chan_unknown'] })
        const sent: string[] = []
        const node = scene.node('node_1', async ({ message }) => {
          sent.push(`${message.event} ${message.title}`)
          return { kind: 'sent', answer: 'ok' }
        })
        await fire(scene, node)
        for (let minute = 0; minute < 3; minute++) await evaluateAt(scene, node)
        await node.sendDue()
        const found = await scene.within(({ rules }) => rules.find('org_1', rule.id))
        assert.deepEqual(
          found?.firing.map(({ title }) => title),
          ['Denials are over 20 %'],
        )
        await clear(scene, node)
        await node.sendDue()
        await evaluateAt(scene, node)
        await node.sendDue()
        assert.deepEqual(sent, ['fired Denials are over 20 %', 'resolved Denials are over 20 %'])
        const [alert] = (await scene.within(({ alerts }) => alerts.list('org_1', page))).items
        assert.deepEqual(
          alert?.deliveries.map(({ event, state, attempts }) => [event, state, attempts]),
          [
            ['fired', 'sent', 1],
            ['resolved', 'sent', 1],
          ],
        )
        assert.equal(alert?.figure, 30)
        const codes = await database.read<{ code: string }>('select code from audit_event order by sequence')
        assert.deepEqual(
          codes.map(({ code }) => code),
          ['admin.alert.fired', 'admin.alert.resolved'],
        )
        assert.deepEqual(node.errors, [])
      },
    )

    withScene('of one rule are kept apart by subject', async (scene) => {
      await scene.addRule()
      const node = scene.node('node_1')
      scene.breaches.now = [breachOf('key_1'), breachOf('key_2')]
      await evaluateAt(scene, node)
      scene.breaches.now = [breachOf('key_1')]
      await evaluateAt(scene, node)
      const { items } = await scene.within(({ alerts }) => alerts.list('org_1', { ...page, isFiring: true }))
      assert.deepEqual(
        items.map(({ subject }) => subject),
        ['key_1'],
      )
    })

    withScene('begin and end once, although two nodes evaluate at the same time', async (scene) => {
      const channel = await scene.addChannel()
      await scene.addRule({ channelIds: [channel.id] })
      const [one, two] = [scene.node('node_1'), scene.node('node_2')]
      const both = async (): Promise<void> => {
        scene.clock.passMs(minuteMs)
        // Without a lease, so that only the compare-and-set decides.
        await Promise.all([one.evaluate(), two.evaluate()])
      }
      scene.breaches.now = [breachOf()]
      for (let minute = 0; minute < 3; minute++) await both()
      scene.breaches.now = []
      for (let minute = 0; minute < 8; minute++) await both()
      const { items } = await scene.within(({ alerts }) => alerts.list('org_1', page))
      assert.deepEqual(
        items.map(({ deliveries }) => deliveries.map(({ event }) => event)),
        [['fired', 'resolved']],
      )
    })

    withScene('are evaluated by the node with the lease, and by another when that is gone', async (scene) => {
      await scene.addRule()
      const [one, two] = [scene.node('node_1', undefined, 2 * minuteMs), scene.node('node_2', undefined, 2 * minuteMs)]
      scene.breaches.now = [breachOf()]
      await one.evaluate()
      scene.clock.passMs(minuteMs)
      await two.evaluate()
      const firing = async () => (await scene.within(({ alerts }) => alerts.list('org_1', page))).items.length
      assert.equal(await firing(), 0)
      scene.clock.passMs(minuteMs)
      await two.evaluate()
      assert.equal(await firing(), 1)
    })

    withScene('belong to rules that still exist and are not paused', async (scene) => {
      await scene.addRule({ isPaused: true })
      await fire(scene)
      assert.deepEqual((await scene.within(({ alerts }) => alerts.list('org_1', page))).items, [])
    })
  })

  describe(`the outbox of alerts: ${name}`, { skip }, () => {
    withScene(
      'retries a message with the same id until it is sent, and reports the end after the begin',
      async (scene) => {
        const channel = await scene.addChannel()
        await scene.addRule({ channelIds: [channel.id] })
        const seen: string[] = []
        let isBroken = true
        const node = scene.node('node_1', async ({ message, channel: to }) => {
          seen.push(`${message.event} ${message.messageId}`)
          assert.equal(to.openConfig()['secret'], 'the-secret-of-the-channel-abcdef')
          return isBroken ? failed : { kind: 'sent', answer: 'ok' }
        })
        await fire(scene, node)
        await node.sendDue()
        await node.sendDue()
        assert.equal(seen.length, 1)
        await clear(scene, node)
        await node.sendDue()
        const broken = await scene.within(({ channels }) => channels.find('org_1', channel.id))
        assert.deepEqual([broken?.health.lastError, broken?.health.waiting], [failed.answer, 2])
        isBroken = false
        for (let attempt = 0; attempt < 3; attempt++) {
          scene.clock.passMs(15 * minuteMs)
          await node.sendDue()
        }
        const ids = seen.map((each) => each.split(' ')[1])
        assert.deepEqual(
          seen.map((each) => each.split(' ')[0]),
          ['fired', 'fired', 'fired', 'resolved'],
        )
        assert.equal(new Set(ids).size, 2)
        assert.deepEqual(node.errors, [])
      },
    )

    withScene('gives a message up after a day', async (scene, database) => {
      const channel = await scene.addChannel()
      await scene.addRule({ channelIds: [channel.id] })
      const node = scene.node('node_1', async () => failed)
      await fire(scene, node)
      await node.sendDue()
      scene.clock.passMs(dayMs)
      await node.sendDue()
      const [alert] = (await scene.within(({ alerts }) => alerts.list('org_1', page))).items
      assert.deepEqual(
        alert?.deliveries.map(({ state, attempts, lastError }) => [state, attempts, lastError]),
        [['given_up', 2, failed.answer]],
      )
      const nowMs = scene.clock.nowMs()
      await removeOldAlerts(database, { beforeMs: nowMs, giveUpMs: nowMs, nowMs })
      assert.equal((await scene.within(({ alerts }) => alerts.list('org_1', page))).items.length, 1)
    })

    withScene('gives a message to one node at a time, and to another when its lease ends', async (scene, database) => {
      const channel = await scene.addChannel()
      await scene.addRule({ channelIds: [channel.id] })
      await fire(scene)
      const [one, two] = [scene.node('node_1').outbox, scene.node('node_2').outbox]
      const [due] = await one.due(['webhook'], 9)
      assert.ok(due)
      const claims = isParallel
        ? await Promise.all([one.claim(due.id), two.claim(due.id)])
        : [await one.claim(due.id), await two.claim(due.id)]
      assert.equal(claims.filter((claim) => claim !== undefined).length, 1)
      assert.deepEqual(await two.due(['webhook'], 9), [])
      scene.clock.passMs(minuteMs)
      const taken = await two.claim(due.id)
      assert.ok(taken)
      assert.equal(taken.deliveryId, due.id)
      await one.settle(taken, { state: 'sent', atMs: 1 })
      assert.equal((await scene.within(({ channels }) => channels.find('org_1', channel.id)))?.health.waiting, 1)
      await releaseAlertLeases(database)
      assert.equal((await one.due(['webhook'], 9)).length, 1)
    })

    withScene('sends nothing by a paused channel, and all channels get an alert that names none', async (scene) => {
      await scene.addChannel({ isPaused: true })
      const channel = await scene.addChannel()
      await scene.addChannel({ organizationId: 'org_2' })
      await scene.within(({ alerts }) =>
        scene.sendAlert(alerts, 'org_1', { ...breachOf(), kind: 'spend', threshold: 5, unit: 'usd' }),
      )
      const [alert] = (await scene.within(({ alerts }) => alerts.list('org_1', page))).items
      assert.deepEqual(
        alert?.deliveries.map(({ channelId }) => channelId),
        [channel.id],
      )
    })

    withScene('sends by other channels while the mail server hangs', async (scene) => {
      const mail = await scene.addChannel({ kind: 'email', config: { to: ['a@example.com'] } })
      const webhook = await scene.addChannel()
      await scene.addRule({ channelIds: [mail.id, webhook.id] })
      const hanging = Promise.withResolvers<SendResult>()
      const reached = Promise.withResolvers<void>()
      const node = scene.node('node_1', async ({ channel }) => {
        if (channel.kind === 'email') return hanging.promise
        reached.resolve()
        return { kind: 'sent', answer: 'ok' }
      })
      await fire(scene, node)
      const sending = node.sendDue()
      await reached.promise
      hanging.resolve(failed)
      await sending
    })
  })

  describe(`failing upstreams: ${name}`, { skip }, () => {
    withScene('are those that a node has reported in the last minutes', async ({ clock }, database) => {
      await database.write([{ sql: 'delete from failing_upstream' }])
      const [one, two] = [failingUpstreams(database, 'node_1'), failingUpstreams(database, 'node_2')]
      const failing = (upstream: string, failures = 3) => ({
        name: upstream,
        failures,
        lastError: { code: 'upstream_timeout', atMs: 1 },
      })
      const startMs = clock.nowMs()
      await one.write([failing('openai'), failing('busy', 1)], startMs)
      await two.write([failing('openai')], startMs + minuteMs)
      const found = [{ name: 'openai', code: 'upstream_timeout', sinceMs: startMs }]
      assert.deepEqual(await one.read(startMs), found)
      await one.write([failing('openai', 0)], startMs + 2 * minuteMs)
      assert.deepEqual(await one.read(startMs), [{ ...found[0], sinceMs: startMs + minuteMs }])
      assert.deepEqual(await one.read(startMs + 2 * minuteMs), [])
    })
  })
}

type Node = ReturnType<AlertScene['node']>

async function evaluateAt({ clock }: AlertScene, node: Node): Promise<void> {
  clock.passMs(minuteMs)
  await node.evaluate()
}

/** The rule applies in two evaluations. */
async function fire(scene: AlertScene, node = scene.node('node_1')): Promise<void> {
  scene.breaches.now = [breachOf()]
  await evaluateAt(scene, node)
  await evaluateAt(scene, node)
}

/** The rule does not apply for long enough to be over. */
async function clear(scene: AlertScene, node: Node): Promise<void> {
  scene.breaches.now = []
  for (let minute = 0; minute <= 5; minute++) await evaluateAt(scene, node)
}
