/** Explains a verdict: where in the texts the terms, categories and personal data are that the checks acted on. */
import { categories } from '../scan/classify/categories.ts'
import type { Span } from '../scan/normalise/normalise.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import type { ClassificationReader, TextDirection } from '../scan/classify/classifier.ts'
import type { ScanResult, ScanText } from '../scan/scan.ts'
import { injectionThreshold } from '../scan/injection/injection-detector.ts'
import { promptInjection } from '../scan/injection/places.ts'
import { compileTerms } from '../scan/detect/terms.ts'
import type { CompiledRule, RuleName } from '../policy/compiled-rule.ts'
import type { Evaluate } from './evaluate.ts'
import { classificationReader } from './plan.ts'
import type { ActivePolicy } from './rulebook.ts'
import type { Simulation } from './simulate.ts'
import { joinedTextsOf, locatedTexts, type LocatedText, type TextLocation } from './texts/request-texts.ts'
import { createFindPassage, type PassageKind } from './passages.ts'
import { variablesOf } from './variable-evidence.ts'
import type { Decision, Verdict } from './verdict/combine.ts'
import { thresholdOf } from '../policy/content.ts'

export const evidenceKinds = [
  'term',
  'no_allowed_term',
  'category',
  'personal_data',
  'phrase',
  'pattern',
  'variable',
  'judge',
] as const

/** Something that a check acted on. */
export type Evidence = {
  readonly check: Decision['check']
  /** The policy, for the check `policy`. */
  readonly policyId: string | undefined
  readonly kind: (typeof evidenceKinds)[number]
  /** The term, category, kind of personal data, phrase, pattern or variable. */
  readonly name: string
  /** Undefined if it is not part of a text. */
  readonly where?: TextLocation
  /** The range in the text of `where`. */
  readonly span?: Span
  /** The text of the range, or the value of the variable. */
  readonly text?: string
  readonly scoreBasisPoints?: number | undefined
}

const passageKinds: readonly PassageKind[] = [...categories, promptInjection]

/** A text with thousands of matches needs no complete list. */
export const maxEvidence = 500

export type FindEvidence = (simulation: Simulation) => Promise<readonly Evidence[]>

export type EvidenceParts = {
  readonly evaluate: Evaluate
  readonly scanText: ScanText
  readonly patterns: PatternEngine
}

export function createFindEvidence({ evaluate, scanText, patterns }: EvidenceParts): FindEvidence {
  const passageOf = createFindPassage(scanText)

  return async (simulation) => {
    const { plan, scenario, verdict } = simulation
    const { request, direction } = scenario
    const ofText = verdict.decisions.filter(({ decision }) => decision !== 'allow' && decision !== 'not_evaluated')
    const found = [...evidenceWithoutText(simulation)]
    const add = (all: readonly Evidence[], isNew: (one: Evidence) => boolean = () => true): void => {
      for (const one of all) if (found.length < maxEvidence && isNew(one)) found.push(one)
    }
    if (request === undefined || ofText.length === 0) return found
    for (const located of locatedTexts(request)) add(await evidenceIn(located))
    if (direction === 'response') return found
    // Joined parts repeat what single parts contain, so only what is new in them counts.
    const known = new Set(found.map(keyOf))
    for (const { text, place } of joinedTextsOf(request)) {
      const joined = {
        text,
        where: { kind: 'joined' },
        isProse: true,
        places: place === undefined ? [] : [place],
      } as const
      add(await evidenceIn(joined), (one) => !known.has(keyOf(one)))
    }
    return found

    async function evidenceIn(located: LocatedText): Promise<readonly Evidence[]> {
      const { text } = located
      const reader = classificationReader(plan, direction)
      const scan = await scanText({
        text,
        direction,
        reader,
        terms: plan.gateway.terms,
        scansForInjection: located.places.length > 0,
      })
      const scanned = { ...located, scan, direction, reader }
      const ofChecks: Evidence[] = []
      for (const { check, triggeredCategories } of ofText)
        if (check !== 'policy')
          ofChecks.push(...(await categoryEvidence(scanned, { check, names: triggeredCategories })))
      if (isInjection(scanned, ofText)) ofChecks.push(await injectionEvidence(scanned))
      return [...ofChecks, ...gatewayEvidence(scanned, simulation), ...(await policyEvidence(scanned, simulation))]
    }
  }

  /** The passage behind each category that is flagged in the text. */
  async function categoryEvidence(scanned: Scanned, { check, names }: CategoryCheck): Promise<readonly Evidence[]> {
    const { text, scan, where } = scanned
    const all: Evidence[] = []
    for (const name of categories) {
      if (!names.includes(name) || !scan.classification.flagged.includes(name)) continue
      const span = await passageOf(scanned, name)
      const score = basisPoints(scan.classification.scores[name])
      all.push({
        check,
        policyId: undefined,
        kind: 'category',
        name,
        where,
        ...at(text, span),
        scoreBasisPoints: score,
      })
    }
    return all
  }

  /** The passage with the prompt injection. */
  async function injectionEvidence(scanned: Scanned): Promise<Evidence> {
    const span = await passageOf(scanned, promptInjection)
    const { text, where, scan } = scanned
    const score = basisPoints(scan.injection ?? 0)
    const own = { check: 'prompt_injection', policyId: undefined, kind: 'category', name: promptInjection } as const
    return { ...own, where, ...at(text, span), scoreBasisPoints: score }
  }

  /** Evaluates the policies that matched on this text alone, to find out whether it is the one that they matched. */
  async function policyEvidence(
    scanned: Scanned,
    { plan, scenario, verdict }: Simulation,
  ): Promise<readonly Evidence[]> {
    const { direction, categories: givenCategories } = scenario
    const matched = plan.policies[direction].filter((policy) => matchOf(policy, verdict) !== undefined)
    if (matched.length === 0) return []
    const matchedPlan = { ...plan, policies: { request: matched, response: matched } }
    const { text, places } = scanned
    const alone = { texts: [text], places: new Map([[text, places]]), direction, givenCategories }
    const { verdict: own } = await evaluate(matchedPlan, alone)
    const found = matched.flatMap((policy) => {
      const decision = matchOf(policy, own)
      return decision === undefined
        ? []
        : evidenceOfPolicy(policy, scanned, { score: decision.scoreBasisPoints, patterns })
    })
    return Promise.all(found.map((one) => withPassage(scanned, one)))
  }

  /** A rule that reads a category is given the whole text; what it found is a part of it. */
  async function withPassage(scanned: Scanned, one: Evidence): Promise<Evidence> {
    const category = one.kind === 'category' ? passageKinds.find((each) => each === one.name) : undefined
    return category === undefined ? one : { ...one, ...at(scanned.text, await passageOf(scanned, category)) }
  }
}

type Scanned = LocatedText & {
  readonly scan: ScanResult
  readonly direction: TextDirection
  readonly reader: ClassificationReader
}

/** True if the text has a prompt injection that a decision is about. */
const isInjection = ({ scan: { injection = 0 }, places }: Scanned, decisions: readonly Decision[]): boolean =>
  injection >= injectionThreshold &&
  decisions.some((one) => one.check === 'prompt_injection' && one.places?.some((place) => places.includes(place)))

/** The decision of a policy that matches. */
const matchOf = ({ id }: ActivePolicy, { decisions }: Verdict): Decision | undefined =>
  decisions.find(({ check, policyId, decision }) => check === 'policy' && policyId === id && decision === 'refuse')

type CategoryCheck = { readonly check: Decision['check']; readonly names: readonly string[] }

type Match = { readonly score: number | undefined; readonly patterns: PatternEngine }

/** What a matching rule names that is in the text. */
function evidenceOfPolicy(policy: ActivePolicy, scanned: Scanned, { score, patterns }: Match): readonly Evidence[] {
  const { text, where } = scanned
  const { rule, id: policyId } = policy
  const own = { check: 'policy', policyId, where } as const
  if (rule.evaluator === 'judge')
    return [
      { ...own, kind: 'judge', name: 'judge', ...at(text, { start: 0, end: text.length }), scoreBasisPoints: score },
    ]
  // A rule may name several places of the text, and one passage is enough.
  const firstPlace = rule.names.find(
    ({ kind, name }) => kind === 'prompt_injection' && scanned.places.some((place) => place === name),
  )
  return rule.names.flatMap((name): readonly Evidence[] => {
    const { kind } = name
    if (kind === 'variable') return []
    if (kind === 'category') return categoryOfRule(policy, scanned, name.name)
    if (kind === 'prompt_injection') return name === firstPlace ? injectionOfRule(policy, scanned) : []
    const spans =
      name.kind === 'personal_data' ? spansOfKind(scanned.scan, name.name) : spanOf(rule, name, { text, patterns })
    return spans.map((span) => ({ ...own, kind, name: name.name, ...at(text, span) }))
  })
}

type Searched = { readonly text: string; readonly patterns: PatternEngine }

/** The first match of a phrase or pattern. */
function spanOf(rule: CompiledRule, { kind, name }: RuleName, { text, patterns }: Searched): readonly Span[] {
  if (kind === 'pattern') {
    const found = [false, true].map((ignoreCase) => patterns.compile(name, { ignoreCase }).find(text))
    return found.filter((span) => span !== undefined).slice(0, 1)
  }
  if (rule.evaluator === 'names')
    return compileTerms([` ${name}`], patterns)
      .find(text)
      .slice(0, 1)
  const start = asciiForms(text)
    .map((form) => form.indexOf(name))
    .find((index) => index >= 0)
  return start === undefined ? [] : [{ start, end: start + name.length }]
}

/** A rule that names categories matches by their scores; an expression may read any score. */
function categoryOfRule(policy: ActivePolicy, { text, scan, where }: Scanned, name: string): readonly Evidence[] {
  const category = categories.find((each) => each === name)
  if (category === undefined) return []
  const score = basisPoints(scan.classification.scores[category])
  if (policy.rule.evaluator === 'names' && score < thresholdOf(policy)) return []
  const whole = at(text, { start: 0, end: text.length })
  return [{ check: 'policy', policyId: policy.id, kind: 'category', name, where, ...whole, scoreBasisPoints: score }]
}

/** A rule that names places matches by their scores; an expression may read any score. */
function injectionOfRule(policy: ActivePolicy, { text, scan, where }: Scanned): readonly Evidence[] {
  const score = basisPoints(scan.injection ?? 0)
  if (score === 0 || (policy.rule.evaluator === 'names' && score < thresholdOf(policy))) return []
  const whole = at(text, { start: 0, end: text.length })
  const own = { check: 'policy', policyId: policy.id, kind: 'category', name: promptInjection } as const
  return [{ ...own, where, ...whole, scoreBasisPoints: score }]
}

/** Denied terms, and personal data if it is redacted. */
function gatewayEvidence({ text, scan, where }: Scanned, { plan }: Simulation): readonly Evidence[] {
  const { denylist, redact } = plan.gateway.config.rules
  const own = { check: 'gateway', policyId: undefined, where } as const
  const terms = scan.termHits.filter(({ term }) => denylist.includes(term))
  return [
    ...terms.map(({ term, ...span }): Evidence => ({ ...own, kind: 'term', name: term, ...at(text, span) })),
    ...(redact ? scan.personalData : []).map(({ kind, ...span }): Evidence => ({
      ...own,
      kind: 'personal_data',
      name: kind,
      ...at(text, span),
    })),
  ]
}

/** Given categories, a missing term of the allowlist, and the variables that matching expressions read. */
function* evidenceWithoutText({ plan, scenario, verdict, findings }: Simulation): Generator<Evidence> {
  const { categories: given, direction } = scenario
  for (const { check, policyId, decision, triggeredCategories } of verdict.decisions) {
    const isPolicy = check === 'policy'
    for (const name of triggeredCategories)
      if (given.includes(name)) yield { check, policyId: undefined, kind: 'category', name }
    if (isPolicy && decision === 'refuse')
      for (const variable of variablesOf(policyWith(plan.policies[direction], policyId), plan.facts))
        yield { check, policyId: policyId ?? undefined, kind: 'variable', ...variable }
    const isOffTopic = check === 'gateway' && direction === 'request' && findings.allowlistHits.length === 0
    if (isOffTopic && plan.gateway.config.rules.allowlist.length > 0)
      yield { check, policyId: undefined, kind: 'no_allowed_term', name: '' }
  }
}

const policyWith = (policies: readonly ActivePolicy[], id: string | null): ActivePolicy | undefined =>
  policies.find((policy) => policy.id === id)

/** An expression may search in the text after `lowerAscii()` or `upperAscii()`. All forms have the same positions. */
const asciiForms = (text: string): readonly string[] => [
  text,
  text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  text.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
]

const spansOfKind = ({ personalData }: ScanResult, name: string): readonly Span[] =>
  personalData.filter(({ kind }) => kind === name)

const at = (text: string, { start, end }: Span): Required<Pick<Evidence, 'span' | 'text'>> => ({
  span: { start, end },
  text: text.slice(start, end),
})

const basisPoints = (score: number): number => Math.round(score * 10_000)

const keyOf = ({ check, policyId = '', kind, name }: Evidence): string => `${check} ${policyId} ${kind} ${name}`
