import { signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { createAuditAppender } from '../../src/adapters/stores/sql/audit/chain.ts'
import { packChains } from '../../src/adapters/stores/sql/audit/pack.ts'
import { createCheckpointFiles } from '../../src/adapters/stores/checkpoint-files.ts'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { trimRollup } from '../../src/adapters/stores/sql/rollup/trim.ts'
import { createAuditParts } from '../../src/app/audit-parts.ts'
import { openStorage } from '../../src/app/storage/storage.ts'
import { dayMs, hourMs, minuteMs, systemClock, toUnixSeconds, type Clock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { Config } from '../../src/config/config.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import type { Charge } from '../../src/domain/credits/charge.ts'
import { createTextWriter } from '../load/text.ts'

export type Filling = {
  readonly organizationId: string
  readonly projectId: string
  readonly events: number
  /** How long ago the first request was. */
  readonly days: number
  /** The last of them have their texts, as backtests need. */
  readonly withTexts: number
  readonly onProgress: (events: number) => void
}

/** Requests of the same minutes are one group of writes, as they would be under load. Events are signed before they are late, and old sums removed as often as the job does. */
const groupMs = 2 * minuteMs
const users = 2_000
const keys = 20
const models = ['chat', 'messages', 'large', 'small'] as const
const deniedEvery = 33

/** Writes requests of the last days through the stores: for each a charge with its ledger entry, and a signed audit event. */
export async function fill(config: Config, filling: Filling): Promise<void> {
  const { organizationId, projectId, events, days, withTexts, onProgress } = filling
  const endMs = systemClock.nowMs()
  let nowMs = endMs - days * dayMs
  const clock: Clock = { ...systemClock, nowMs: () => Math.floor(nowMs) }
  const ids = createIds(clock, systemRandom)
  await using storage = await openStorage(config, { clock, random: systemRandom })
  const { database, keyring } = storage
  const audit = createAuditParts({ clock, ids, keyring })
  const appender = createAuditAppender(database, audit.events)
  const ledger = ledgerStore(database, { ids, clock })
  const slice = { id: ids('slice'), organizationId, holder: 'node', epoch: 'bench' } as const
  await ledger.openSlice(slice, { leastMicro: 1, wantedMicro: events * costMicro })
  const checkpoints = {
    database,
    clock,
    ...audit,
    signed: createCheckpointFiles(config.storage.data_dir),
    onRewritten: () => undefined,
    onLate: () => undefined,
    onAppended: appender.setHead,
  }
  const perMs = events / (days * dayMs)
  const write = createTextWriter(1)
  const contentOf = ({ number }: Request): Pick<EventFacts, 'content'> =>
    number < events - withTexts ? {} : { content: { full: { prompt: write(600), response: write(600) } } }
  const trim = () =>
    trimRollup(database, { nowSeconds: toUnixSeconds(clock.nowMs()), userDays: config.audit.retention_days })
  let trimmedMs = nowMs
  for (let done = 0; done < events;) {
    const toMs = Math.min(endMs, nowMs + groupMs)
    const upTo = toMs === endMs ? events : Math.min(events, Math.ceil((toMs - (endMs - days * dayMs)) * perMs))
    const group: Request[] = []
    for (; done < upTo; done++, nowMs += 1 / perMs)
      group.push({ number: done, requestId: ids('req'), atMs: clock.nowMs(), organizationId, projectId })
    nowMs = toMs
    await Promise.all([
      appender.append(
        organizationId,
        group.map((request) => audit.events.makeEvent({ ...factsOf(request), ...contentOf(request) })),
      ),
      ...group.filter(isPaid).map((request) => ledger.settle(chargeOf(request, slice.id))),
    ])
    await signDueChains(checkpoints)
    await foldStoredDeltas(database)
    await packChains(database)
    if (nowMs - trimmedMs >= hourMs) {
      await trim()
      trimmedMs = nowMs
    }
    onProgress(done)
  }
  await trim()
  await signDueChains(checkpoints, true)
  await ledger.retireSlice(slice.id)
  await ledger.closeSlice(slice.id)
}

type Request = {
  readonly number: number
  readonly requestId: string
  readonly atMs: number
  readonly organizationId: string
  readonly projectId: string
}

const isPaid = ({ number }: Request): boolean => number % deniedEvery !== 0
/** Few users send most of the requests. */
const userAt = ({ number }: Request): number => Math.floor(users * ((number * 0.618_033_988) % 1) ** 3)
const userOf = (request: Request): string => `user-${userAt(request)}`
/** The application of a user has one key, and another model for one in ten requests. */
const keyOf = (request: Request): string => `key_${String(userAt(request) % keys).padStart(26, '0')}`
const modelOf = (request: Request): string =>
  models[(userAt(request) + (request.number % 10 === 0 ? 1 : 0)) % models.length] ?? 'chat'

const tokens = { input: 120, output: 340 }
const rates = { input: 1e6, cacheRead: 1e6, cacheWrite: 1e6, output: 2e6, version: 'bench' }
const costMicro = tokens.input + 2 * tokens.output

const chargeOf = (request: Request, sliceId: string): Charge => ({
  requestId: request.requestId,
  organizationId: request.organizationId,
  projectId: request.projectId,
  keyId: keyOf(request),
  model: modelOf(request),
  userId: userOf(request),
  atMs: request.atMs,
  outcome: 'answered',
  sliceId,
  micro: costMicro,
  usage: {
    inputTokens: tokens.input,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: tokens.output,
    source: 'reported',
  },
  rates,
})

function factsOf(request: Request): EventFacts {
  const isAllowed = isPaid(request)
  const latencyMs = 200 + (request.number % 1_700)
  return {
    code: 'gateway.request.decided',
    organizationId: request.organizationId,
    timeMs: request.atMs,
    message: isAllowed ? `Answered by ${modelOf(request)}.` : 'The request was denied by a policy.',
    requestId: request.requestId,
    projectId: request.projectId,
    actor: { kind: 'api_key', userId: userOf(request), credentialId: keyOf(request) },
    call: {
      method: 'POST',
      path: '/v1/messages',
      address: '192.0.2.7',
      userAgent: 'anthropic-sdk-typescript/0.70.1',
      status: isAllowed ? 200 : 403,
      latencyMs,
    },
    verdict: isAllowed
      ? { decision: 'allow', isEnforced: true }
      : { decision: 'refuse', isEnforced: true, reasonCode: 'policy_denied' },
    timing: { acceptedUs: 310, admittedUs: 420, checkedUs: 900, totalUs: latencyMs * 1000 },
    ...(isAllowed && {
      model: {
        provider: 'c',
        name: modelOf(request),
        inputTokens: tokens.input,
        outputTokens: tokens.output,
        finishReasons: ['end'],
        isStream: true,
        creditsUsed: costMicro / 1e6,
        costUsd: costMicro / 1e9,
      },
    }),
  }
}
