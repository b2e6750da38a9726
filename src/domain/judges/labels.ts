import { hash } from 'node:crypto'
import type { Appeal, AppealStore } from '../appeals/appeal.ts'
import { caseInputOf } from '../appeals/case-of-appeal.ts'
import { agreedAnswer, needsAnotherPerson, type Label } from '../appeals/label.ts'
import type { AuditReads } from '../audit/log.ts'
import type { CaseInput, CaseStore, Expectation, PolicyCase } from '../cases/case.ts'
import { thresholdOf, type PolicyContent } from '../policy/content.ts'
import type { Policy } from '../policy/policy.ts'
import { expressionOf } from '../policy/rule.ts'
import type { PolicyStore } from '../policy/store.ts'
import { nothingLeftOut, type CalibrationItem, type LeftOut } from './calibration.ts'

export type LabelStores = {
  readonly policies: Pick<PolicyStore, 'find' | 'list'>
  readonly cases: Pick<CaseStore, 'all'>
  readonly appeals: Pick<AppealStore, 'list' | 'labels'>
  readonly events: Pick<AuditReads, 'findRequest'>
}

export type CollectedLabels = { readonly items: readonly CalibrationItem[]; readonly leftOut: LeftOut }

/** Of one calibration. Each label is two questions. */
const maxCases = 2_000
/** The newest ones. The text of each is read from the audit log. */
const maxAppeals = 500
const pageSize = 100

type Counted = { -readonly [Reason in keyof LeftOut]: LeftOut[Reason] }
type Work = { readonly items: CalibrationItem[]; readonly leftOut: Counted; appealsRead: number }

/** What people say about texts and rules in plain language: cases, and the labels of appeals. No text is counted twice. */
export async function collectLabels(
  stores: LabelStores,
  { organizationId, nowMs }: { readonly organizationId: string; readonly nowMs: number },
): Promise<CollectedLabels> {
  const work: Work = { items: [], leftOut: { ...nothingLeftOut }, appealsRead: 0 }
  const ofAppeals: CalibrationItem[] = []
  for await (const policy of judgedPolicies(stores.policies, organizationId)) {
    const cases = await stores.cases.all({ organizationId, policyId: policy.id })
    addCases(work, policy, cases)
    ofAppeals.push(...(await labelledAppeals(stores, work, { policy, cases, nowMs })))
  }
  return { items: [...work.items, ...ofAppeals], leftOut: work.leftOut }
}

async function* judgedPolicies(policies: LabelStores['policies'], organizationId: string): AsyncGenerator<Policy> {
  let after: string | undefined
  for (;;) {
    const page = await policies.list(organizationId, pageAfter(after))
    for (const { id } of page.items) {
      const policy = await policies.find(organizationId, id)
      if (policy && expressionOf(contentInForce(policy).rule) === undefined) yield policy
    }
    after = page.items.at(-1)?.id
    if (!page.hasMore || after === undefined) return
  }
}

function addCases({ items, leftOut }: Work, policy: Policy, cases: readonly PolicyCase[]): void {
  const threshold = thresholdOf(contentInForce(policy))
  for (const one of cases) {
    const expected = expectedOf(one.expected, threshold)
    if (expected === undefined) continue
    if (!isLabelledByPerson(one)) leftOut.not_by_person += 1
    else if (items.length >= maxCases) leftOut.over_limit += 1
    else items.push({ policyId: policy.id, caseId: one.id, expected })
  }
}

type OfPolicy = { readonly policy: Policy; readonly cases: readonly PolicyCase[]; readonly nowMs: number }
type Reviewed = { readonly appeal: Appeal; readonly labels: readonly Label[] }

/** Several appeals can be about the same text. Then all of their labels are about it. */
async function labelledAppeals(stores: LabelStores, work: Work, of: OfPolicy): Promise<readonly CalibrationItem[]> {
  const { leftOut } = work
  const caseIds = new Set(of.cases.map(({ id }) => id))
  const ofCases = new Set(of.cases.map(({ given }) => textKey(given, of.policy)))
  const byText = new Map<string, Reviewed[]>()
  for await (const appeal of reviewedAppeals(stores.appeals, of)) {
    const key = await keyOfAppeal(appeal)
    if (key !== undefined) byText.set(key, [...(byText.get(key) ?? []), await reviewed(appeal)])
  }
  return [...byText.values()].flatMap((all): readonly CalibrationItem[] => {
    const [newest] = all
    const labels = lastOfEach(all.flatMap((each) => each.labels))
    const expected = agreedAnswer(labels)
    if (newest === undefined || expected === undefined) {
      leftOut[needsAnotherPerson(labels) ? 'disagreeing' : 'unsure'] += all.length
      return []
    }
    leftOut.repeated += all.length - 1
    return [{ policyId: of.policy.id, appealId: newest.appeal.id, expected }]
  })

  /** Undefined if the text does not count. */
  async function keyOfAppeal(appeal: Appeal): Promise<string | undefined> {
    if (appeal.state === 'dismissed') return leave('dismissed')
    if (appeal.caseId !== null && caseIds.has(appeal.caseId)) return leave('repeated')
    if (work.appealsRead >= maxAppeals) return leave('over_limit')
    work.appealsRead += 1
    const given = await textOfAppeal(stores.events, appeal)
    if (given === undefined) return leave('without_text')
    const key = textKey(given, of.policy)
    return ofCases.has(key) ? leave('repeated') : key
  }

  function leave(reason: keyof LeftOut): undefined {
    leftOut[reason] += 1
  }

  async function reviewed(appeal: Appeal): Promise<Reviewed> {
    return { appeal, labels: await stores.appeals.labels(appeal.organizationId, appeal.id) }
  }
}

/** The appeals about a policy that somebody has labelled, the newest first. */
async function* reviewedAppeals(
  appeals: Pick<AppealStore, 'list'>,
  { policy: { organizationId, id: policyId }, nowMs }: OfPolicy,
): AsyncGenerator<Appeal> {
  let after: string | undefined
  for (;;) {
    const filter = { policyId, isLabelled: true, nowMs } as const
    const page = await appeals.list(organizationId, filter, { ...pageAfter(after), order: 'desc' })
    yield* page.items
    after = page.items.at(-1)?.id
    if (!page.hasMore || after === undefined) return
  }
}

/** The disputed text in the form of a case; undefined if it is not kept. */
export async function textOfAppeal(
  events: LabelStores['events'],
  { organizationId, requestId, direction }: Pick<Appeal, 'organizationId' | 'requestId' | 'direction'>,
): Promise<CaseInput | undefined> {
  const event = requestId === null ? undefined : await events.findRequest(organizationId, requestId)
  return event && caseInputOf(event, direction)
}

/** The same for the same text, as a case and as an appeal may have it. */
function textKey(given: CaseInput, policy: Policy): string {
  const { text, messages, direction } = given
  const texts = Array.isArray(messages) ? messages.map((message: unknown) => JSON.stringify(contentIn(message))) : text
  const read = direction ?? (contentInForce(policy).direction === 'response' ? 'response' : 'request')
  const [only, second] = Array.isArray(texts) ? texts : [JSON.stringify(texts)]
  return hash('sha256', JSON.stringify([read, second === undefined ? only : texts]), 'base64url')
}

const contentIn = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'content' in message ? message.content : message

/** A person who has labelled a text twice has changed their mind. */
const lastOfEach = (labels: readonly Label[]): readonly Label[] => [
  ...new Map(
    labels
      .toSorted((one, other) => one.labelledAtMs - other.labelledAtMs)
      .map((label) => [label.labelledBy, label] as const),
  ).values(),
]

const contentInForce = ({ published, draft }: Policy): PolicyContent => published ?? draft

const pageAfter = (after: string | undefined) =>
  ({ limit: pageSize, order: 'asc', ...(after !== undefined && { after }) }) as const

/** A case that was made from a replay says what the draft said, until a person changes what is expected. */
const isLabelledByPerson = ({ origin, labelledAtMs, createdAtMs }: PolicyCase): boolean =>
  origin !== 'replay' || labelledAtMs > createdAtMs

/** A range that the threshold divides is no label. */
function expectedOf(expected: Expectation, threshold: number): CalibrationItem['expected'] | undefined {
  if (typeof expected === 'string') return expected
  const { atLeast = 0, atMost = 10_000 } = expected
  if (atLeast >= threshold) return 'match'
  return atMost < threshold ? 'no_match' : undefined
}
