import { createDisposables } from '../base/disposables.ts'
import { isPromise, type MaybePromise } from '../base/maybe-promise.ts'
import { isFault, type FaultKind } from '../base/fault.ts'
import type { StorageHealth } from '../base/storage-health.ts'
import type { Rates } from '../domain/credits/rates.ts'
import type { FreeRequests, FreeTierSlot } from '../domain/identity/free-request.ts'
import type { Caller } from '../domain/identity/principal.ts'
import type { Catalogue, Model, Price, ModelTarget } from '../domain/inference/catalogue.ts'
import { estimateCountable } from '../domain/inference/count.ts'
import type { Receipt, Usage } from '../domain/inference/events.ts'
import { usageBounds } from '../domain/inference/plausible-usage.ts'
import type { ModelSet, ModelSetOf } from '../domain/inference/model-set.ts'
import { minOutput, type OutputLimit } from '../domain/inference/output-limit.ts'
import type { ModelRequest } from '../domain/inference/request.ts'
import type { Admitted } from '../domain/limits/admission.ts'
import { LimitedFault, withLimitStatus } from '../domain/limits/limited-fault.ts'
import type { Admission, AdmissionCall } from './billing/admission.ts'
import type { OperationCall } from './operation-call.ts'
import { BudgetExceeded } from './billing/budget-faults.ts'
import { countRejected } from './billing/count-rejected.ts'
import type { Estimate, Enforce, EnforcedRequest } from './enforcement/enforce.ts'
import { freeLease, type Lease } from './billing/lease.ts'
import { meter } from './billing/meter.ts'
import { modelNotFound, permittedModel } from './permitted-model.ts'
import { route, type RoutedCall, type RouteParts } from './route.ts'
import type { ModelSwitch, Run, StartedOperation } from './started-operation.ts'

export type RunParts = Omit<RouteParts, 'providers' | 'health'> & {
  /** The models that anonymous free requests can use. */
  readonly installation: ModelSet
  readonly modelSetOf: ModelSetOf
  readonly storage: Pick<StorageHealth, 'requestFault'>
  readonly admission: Admission
  readonly enforce: Enforce
  readonly ratesOf: (price: Price) => Rates
  readonly creditUsd: number
  readonly freeRequests: FreeRequests
  readonly freeOutputTokens: number
  /** Called with the usage that the upstream reports, so that the gateway's own token counts improve. */
  readonly learnFactor: (model: Model, call: OperationCall, usage: Usage) => void
  /** Called if an upstream reports more usage than the request can have. */
  readonly onImplausibleUsage: (report: ImplausibleReport) => void
}

export type ImplausibleReport = ModelTarget & { readonly requestId: string; readonly usage: Usage }

const done = Promise.resolve()

const setFor = ({ installation, modelSetOf }: RunParts, caller: Caller): MaybePromise<ModelSet> =>
  caller.kind === 'free' ? installation : modelSetOf(caller.organization.id)

/** Runs an operation for a caller: the steps of a request, from an authenticated caller to an answer that has started. */
export function createRun(parts: RunParts): Run {
  return (received) => runWith(received, undefined)

  /** With `modelSwitch`, the request goes on with a cheaper model, because a budget does not cover the requested one. */
  async function runWith(received: OperationCall, modelSwitch: ModelSwitch | undefined): Promise<StartedOperation> {
    const { requestId, caller, signal } = received
    // If neither the charge nor the audit event can be stored, the answer could not be sent. So no upstream is called.
    const storageFault = parts.storage.requestFault()
    if (storageFault) throw storageFault
    const found = setFor(parts, caller)
    const { catalogue, providers, health } = isPromise(found) ? await found : found
    const model = await countRejected(parts.admission, caller, () =>
      permittedModel(catalogue, caller, { operation: received.operation.name, name: received.request.model }),
    )
    const call = withModelName(received, model.name)
    const { operation, request } = call
    const dropped = new Set<string>()
    const expected = expectedUsage(call)
    const callerLimit = outputLimitOf(call, model, parts.freeOutputTokens)
    const disposables = createDisposables()
    let admission: Admitted | null = null
    let freeSlot: FreeTierSlot | undefined
    try {
      if (caller.kind === 'free') freeSlot = disposables.use(await parts.freeRequests.claim(caller))
      const userId = call.purpose?.user ?? request.user
      const exceededBudget = modelSwitch?.budgetId
      const spender = { model, userId, tags: call.tags }
      const wanted = { requestId, ...spender, expected, outputLimit: callerLimit, exceededBudget, signal }
      const lease = disposables.use(await leaseFor(parts, caller, wanted))
      admission = lease.admission
      call.timing?.admitted()
      call.trace?.onLimits(admission?.limitStatus, lease.held())
      const ready = call.beforeModels?.()
      if (ready !== undefined) await ready
      const estimate = { expected, outputTokens: Math.min(callerLimit.tokens, model.contextTokens) }
      const enforced = disposables.use(await enforceOn(parts.enforce, call, { ...estimate, lease }))
      call.timing?.checked()
      call.trace?.onChecked(operation.messagesOf(enforced.request))
      const outputLimit = minOutput(callerLimit, enforced.outputTokensLeft)
      const onDropped = (field: string): void => void dropped.add(field)
      const { callerWaitMs } = call
      const reading = { signal, callerWaitMs, onDropped }
      const sent = { operation, request: enforced.request, outputLimit, requestId, ...reading, ...attemptHooks(call) }
      const onFailed = (error: unknown): Promise<never> => enforced.fail(unknownModel(catalogue, request, error))
      const { clock, random, onFailedCall } = parts
      const routing = { providers, health, clock, random, onFailedCall }
      const started = disposables.use(await route(routing, model, sent).catch(onFailed))
      call.timing?.firstByte()
      freeSlot?.keep()
      const onEnd = (usage: Usage): void => {
        call.timing?.answered()
        parts.learnFactor(model, call, usage)
      }
      const onImplausible = (usage: Usage): void => parts.onImplausibleUsage({ requestId, ...started.target, usage })
      const bounds = usageBounds({ model, request, expected, outputLimit })
      const stopUpstream = async (): Promise<void> => started[Symbol.asyncDispose]()
      const metering = { lease, expected, bounds, signal, stopUpstream, onEnd, onImplausible }
      const metered = disposables.use(meter(started.chunks, metering))
      let isPaid = false
      const pay = (usage: Usage): Promise<Receipt> =>
        lease.settle('answered', usage).then((receipt) => {
          isPaid = true
          return receipt
        })
      // By the time an answer is paid for, its upstream has ended and its lease is settled: nothing is left to release.
      const release = (): Promise<void> => (isPaid ? done : disposables.dispose())
      return {
        model: model.name,
        upstream: started.target.upstream,
        chunks: enforced.guard(metered, stopUpstream),
        bill: {
          quote: (usage) => lease.quote(usage),
          pay,
          waive: (usage) => lease.giveUp('broken_off', usage),
          charged: () => lease.charged(),
        },
        dropped,
        requiredCoverage: enforced.requiredCoverage,
        admission,
        modelSwitch,
        [Symbol.asyncDispose]: release,
      }
    } catch (error) {
      if (signal.aborted || !isOfService(error)) freeSlot?.useUp()
      await disposables.dispose()
      const cheaper = modelSwitch === undefined ? switchAfter(error, call, catalogue) : undefined
      if (cheaper !== undefined) return runWith(withModelName(call, cheaper.model), cheaper)
      if (modelSwitch === undefined && maySwitch(error) && caller.kind !== 'free')
        throw new LimitedFault(error, (await parts.admission.count(caller)).limitStatus)
      if (error instanceof LimitedFault) call.trace?.onLimits(error.limitStatus, undefined)
      throw admission !== null && isFault(error) ? withLimitStatus(error, admission.limitStatus) : error
    }
  }
}

/** The admission has not counted such a request. */
const maySwitch = (error: unknown): error is BudgetExceeded =>
  error instanceof BudgetExceeded && error.budget.action.type === 'use_model'

/** The model that a budget's action names, if the key may use it for this operation. Otherwise the budget denies the request. */
function switchAfter(error: unknown, { caller, operation, request }: OperationCall, catalogue: Catalogue) {
  if (!maySwitch(error) || error.budget.action.type !== 'use_model') return undefined
  const { action, id: budgetId } = error.budget
  if (action.model === request.model) return undefined
  try {
    const { name } = permittedModel(catalogue, caller, { operation: operation.name, name: action.model })
    return { model: name, budgetId }
  } catch {
    return undefined
  }
}

/** Rules, prices and upstreams know a model by one name, also if the caller appended an option to it. */
const withModelName = (call: OperationCall, model: string): OperationCall =>
  model === call.request.model ? call : { ...call, request: { ...call.request, model } }

/** An entry `prefix*` matches names that its upstreams do not have. Only they know, so their answer becomes the caller's. */
function unknownModel(catalogue: Catalogue, { model }: ModelRequest, error: unknown): unknown {
  const isUnknown = isFault(error) && error.details.isUnknownModel === true
  return isUnknown && catalogue.entryOf(model)?.name !== model ? modelNotFound(model, { cause: error }) : error
}

/** A free request that fails for one of these may be sent again. Otherwise a client could repeat a denied one without end. */
const faultsOfService: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'upstream_failed',
  'upstream_timeout',
  'upstream_overloaded',
  'unavailable',
  'internal',
])

const isOfService = (error: unknown): boolean => !isFault(error) || faultsOfService.has(error.kind)

/** Records each attempt for the audit log and the trace. */
const attemptHooks = ({
  timing,
  trace,
  callerSpan,
}: OperationCall): Pick<RoutedCall, 'onAttempt' | 'onFailedAttempt'> => ({
  onAttempt(target) {
    timing?.called(target.upstream)
    return trace?.onAttempt(target) ?? callerSpan
  },
  onFailedAttempt({ upstream }, { code }) {
    timing?.attemptFailed(upstream, code)
    trace?.onFailedAttempt(code)
  },
})

/** A request that is denied counts with its input tokens only, because no upstream was called. */
const enforceOn = (
  enforce: Enforce,
  call: OperationCall,
  { lease, expected, outputTokens }: Estimate & { lease: Lease },
): Promise<EnforcedRequest> =>
  enforce(call, { expected, outputTokens }).catch(async (error: unknown) => {
    if (isFault(error) && (error.kind === 'moderation' || error.kind === 'policy'))
      await lease.giveUp('blocked', expected)
    throw error
  })

function leaseFor(
  { admission, ratesOf, creditUsd }: RunParts,
  caller: Caller,
  call: Omit<AdmissionCall, 'principal'>,
): MaybePromise<Lease> {
  if (caller.kind === 'free') return freeLease(ratesOf(call.model.price), creditUsd)
  return admission.admit({ ...call, principal: caller })
}

/**
 * The limit of the operation, made explicit where a longer answer would cost more credits than the request holds. It then
 * reaches the upstream also if neither the caller nor the operator set it.
 */
function outputLimitOf({ operation, request, caller }: OperationCall, model: Model, freeTokens: number): OutputLimit {
  const limit = operation.outputLimitOf(request, model)
  if (caller.kind === 'free') return minOutput(limit, freeTokens)
  const costsCredits = caller.organization.metered && model.price.output > 0
  return costsCredits ? minOutput(limit, limit.tokens) : limit
}

/** The basis of the hold. Clients also get it with the first event, before the upstream has counted. */
const expectedUsage = ({ operation, request }: OperationCall): Usage => ({
  inputTokens: estimateCountable(operation.countableOf(request)),
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  source: 'estimated',
})
