/**
 * The cost of content scanning in CPU microseconds per kilobyte, and as a ratio to `JSON.parse` of the same number of bytes,
 * because machines differ. Cases: the classifier hot and cold, on code, terms, personal data, all together, and a stream.
 *
 *   node bench/classifier.ts [--json]
 */
import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { isPromise } from '../src/base/maybe-promise.ts'
import { createEmbeddedClassifier } from '../src/adapters/classifiers/embedded/classifier.ts'
import { re2Patterns } from '../src/adapters/patterns/re2.ts'
import { findPersonalData } from '../src/domain/scan/detect/personal-data/find.ts'
import { createEvaluate } from '../src/domain/evaluation/evaluate.ts'
import { createPolicyPrefilters } from '../src/domain/evaluation/scan/policy-prefilter.ts'
import { createStreamScanner } from '../src/domain/evaluation/stream/stream-scanner.ts'
import { createHoldBackPolicies } from '../src/domain/evaluation/stream/hold-back-policy.ts'
import { planFor } from '../src/domain/evaluation/plan.ts'
import { emptyRulebook } from '../src/domain/evaluation/rulebook.ts'
import { createScanText } from '../src/domain/scan/scan.ts'
import { compileTerms } from '../src/domain/scan/detect/terms.ts'
import { createSeeded } from '../scripts/classifier/seeded.ts'

const kilobyte = 1024
const textsPerRound = 300
const rounds = 9
const chance = createSeeded(5)

const common =
  `the of and to a in that is was for on with as it be at by this had not are but from or have they which one you were her all
  she there would their we him been has when who will more no if out so said what up its about into than them can only other new
  some could time these two may then do first any my now such like our over man me even most made after also did many before must
  through back years where much your way well down should because each just those people how too little state good very make world
  still own see men work long here get both between life being under never day same another know while last might us great old year
  Tuesday 1987 research, budget; river. children, 42 percent, e-mail, don't, it's, weather, garden, server, request, answer`.split(
    /\s+/,
  )

const pick = (): string => common[Math.floor(chance() * common.length)] ?? ''
const invent = (): string =>
  Array.from({ length: 3 + Math.floor(chance() * 7) }, () => String.fromCharCode(97 + Math.floor(chance() * 26))).join(
    '',
  )

/** Returns a flat string, like one from a parsed body. */
function write(word: () => string): string {
  let text = ''
  while (text.length < kilobyte) text += `${word()} `
  return JSON.parse(JSON.stringify(text.slice(0, kilobyte)))
}

const hotTexts = Array.from({ length: textsPerRound }, () => write(pick))
const curlyTexts = hotTexts.map((text) =>
  text.replaceAll("'", '’').replaceAll('; ', ' — ').replaceAll('garden', 'café'),
)

type Round = () => void | Promise<void>

/** Median CPU microseconds per text over the rounds. `prepare` is not measured. */
async function measure(
  work: (texts: readonly string[]) => ReturnType<Round>,
  prepare: () => readonly string[],
): Promise<number> {
  const costs: number[] = []
  for (let round = -2; round < rounds; round++) {
    const texts = prepare()
    const before = process.cpuUsage()
    await work(texts)
    const spent = process.cpuUsage(before)
    if (round >= 0) costs.push((spent.user + spent.system) / texts.length)
  }
  costs.sort((first, second) => first - second)
  return costs[rounds >> 1] ?? 0
}

const forEach =
  (each: (text: string) => unknown) =>
  (texts: readonly string[]): void => {
    for (const text of texts) each(text)
  }

const classifier = createEmbeddedClassifier()
const classify = forEach((text) => classifier.classify(text, 'request'))
const tenTerms = compileTerms(Array.from({ length: 10 }, invent), re2Patterns)
const thousandTerms = compileTerms(Array.from({ length: 1_000 }, invent), re2Patterns)
const parse = forEach((text) => JSON.parse(text))
/** A kilobyte of JSON with the same words, each as a value: the minimum cost of parsing a body. */
const bodies = hotTexts.map((text) => {
  const words = text.split(' ').map((word) => ({ word }))
  while (JSON.stringify(words).length > kilobyte) words.pop()
  return JSON.stringify(words)
})
const code = readFileSync(new URL(import.meta.url), 'utf8')
const codeTexts = Array.from({ length: textsPerRound }, (_, at) => {
  const start = (at * 97) % (code.length - kilobyte)
  return JSON.parse(JSON.stringify(code.slice(start, start + kilobyte)))
})
const scanText = createScanText({ classifier, pause: () => setImmediate(), cacheEntries: 0 })
const scanCached = createScanText({ classifier, pause: () => setImmediate(), cacheEntries: textsPerRound })
const scanAll =
  (run: typeof scanText) =>
  async (texts: readonly string[]): Promise<void> => {
    for (const text of texts) await run({ text, direction: 'request', terms: thousandTerms })
  }

const parts = {
  pause: () => setImmediate(),
  canRephrase: false,
  failsOpen: false,
  cacheEntries: 0,
  prefilterOf: createPolicyPrefilters(re2Patterns),
  reportsDenialsOnly: true,
}
const evaluate = createEvaluate({ ...parts, scanText })
const plan = planFor(emptyRulebook, {
  model: '',
  project: '',
  user: undefined,
  credentialId: '',
  metadata: {},
  target: undefined,
  policyIds: [],
  flaggedCategories: [],
  atMs: 0,
})
const holdBack = createHoldBackPolicies(parts.prefilterOf)(plan, false)
const scannerParts = { plan, holdBack, evaluate, evaluateUncached: evaluate, pause: parts.pause }
const chunkCharacters = 5

/** Streams texts in chunks of one token each. */
const streamAll = async (texts: readonly string[]): Promise<void> => {
  for (const text of texts) {
    const scanner = createStreamScanner({ ...scannerParts, classifier })
    for (let at = 0; at < text.length; at += chunkCharacters) {
      scanner.push(text.slice(at, at + chunkCharacters))
      const denied = scanner.scan()
      if (isPromise(denied)) await denied
    }
    await scanner.end()
  }
}

/** Evaluates texts that arrive at once. */
const evaluateAll = async (texts: readonly string[]): Promise<void> => {
  for (const text of texts) {
    const scanner = createStreamScanner({ ...scannerParts, classifier })
    scanner.push(text)
    await scanner.end()
  }
}

const figures = {
  'classifier, hot': await measure(classify, () => hotTexts),
  'classifier, hot, curly quotes and accents': await measure(classify, () => curlyTexts),
  'classifier, cold: every word new': await measure(classify, () =>
    Array.from({ length: textsPerRound }, () => write(invent)),
  ),
  'classifier, hot, code': await measure(classify, () => codeTexts),
  'terms, 10': await measure(
    forEach((text) => tenTerms.find(text)),
    () => hotTexts,
  ),
  'terms, 1,000': await measure(
    forEach((text) => thousandTerms.find(text)),
    () => hotTexts,
  ),
  'personal data': await measure(
    forEach((text) => findPersonalData(text)),
    () => hotTexts,
  ),
  'scan, all checks': await measure(scanAll(scanText), () => hotTexts),
  'scan, cached': await measure(scanAll(scanCached), () => hotTexts),
  'scan of a stream in chunks of 5 characters': await measure(streamAll, () => hotTexts),
  'scan of a whole response': await measure(evaluateAll, () => hotTexts),
}
const parsing = await measure(parse, () => bodies)

if (process.argv.includes('--json')) {
  console.log(
    JSON.stringify({ node: process.version, unit: 'CPU microseconds per KB', figures, 'JSON.parse': parsing }),
  )
} else {
  for (const [name, cost] of Object.entries({ ...figures, 'JSON.parse': parsing })) {
    console.log(`${cost.toFixed(1).padStart(8)}  ${(cost / parsing).toFixed(1).padStart(6)} x  ${name}`)
  }
}
