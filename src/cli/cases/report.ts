import { plural } from '../../base/plural.ts'
import type { TestedCase, TestedSuite } from './run-file-cases.ts'

/** `must` is what decides: 4 tells a failed case from an error. */
export const failedExitCode = 4

export const hasFailedMust = (suites: readonly TestedSuite[]): boolean =>
  suites.some(({ cases }) => cases.some(({ state, weight }) => state === 'failed' && weight === 'must'))

export function reportText(suites: readonly TestedSuite[]): string {
  const lines = suites.flatMap(({ name, cases }) => [name, ...cases.map(caseLine), ''])
  const all = suites.flatMap(({ cases }) => cases)
  const count = (state: TestedCase['state']): number => all.filter((each) => each.state === state).length
  const unjudged = all.filter(({ reason }) => reason === 'judge_not_asked' || reason === 'not_recorded').length
  return [
    ...lines,
    `${plural(all.length, 'case')}: ${count('passed')} passed, ${count('failed')} failed, ${count('not_evaluated')} not evaluated.`,
    ...(unjudged === 0
      ? []
      : [
          `${plural(unjudged, 'case')} not judged: --judge ask asks the judge model of the server, and keeps its verdicts for --judge recorded.`,
        ]),
  ].join('\n')
}

const marks = { passed: '✔', failed: '✖', not_evaluated: '–' }

function caseLine(each: TestedCase): string {
  const { state, says, weight } = each
  const soft = weight === 'should' ? ' (should)' : ''
  return `  ${marks[state]} ${says}${soft}${state === 'passed' ? '' : `: ${explanation(each)}`}`
}

function explanation(each: TestedCase): string {
  const { state, expect, got, reason } = each
  if (state === 'not_evaluated') return `not evaluated (${reason ?? 'unknown'})`
  const found = `expected ${expectText(expect)}, got ${gotText(got)}`
  return 'score' in each ? `${found} with a score of ${each.score ?? 0}` : found
}

/** A decision of the gateway configuration is its own text. */
function gotText(got: TestedCase['got']): string {
  if (got === 'match') return 'a match'
  return got === 'no_match' || got === undefined ? 'no match' : got
}

function expectText(expect: TestedCase['expect']): string {
  if (typeof expect === 'string') return gotText(expect)
  return `a score from ${expect.at_least_bp ?? 0} to ${expect.at_most_bp ?? 10_000}`
}

/** The gateway configuration is left out if it has no cases. */
export function reportJson(suites: readonly TestedSuite[]): object {
  const gateway = suites.find(({ isGateway }) => isGateway)
  return {
    policies: suites
      .filter(({ isGateway }) => !isGateway)
      .map(({ name, file, cases }) => ({ name, file, cases: cases.map(resultJson) })),
    ...(gateway && { gateway: { file: gateway.file, cases: gateway.cases.map(resultJson) } }),
  }
}

const resultJson = (each: TestedCase): object => ({
  says: each.says,
  weight: each.weight,
  state: each.state,
  expected: each.expect,
  got: each.got ?? null,
  ...('score' in each && { score_bp: each.score ?? null }),
  not_evaluated: each.reason ?? null,
  ms: Math.round(each.ms * 1000) / 1000,
})

/** JUnit's XML, which CI systems show. A failed `should` counts as skipped, because it fails nothing. */
export function reportJunit(suites: readonly TestedSuite[]): string {
  const elements = suites.map(({ name, cases }) => {
    const isFailure = ({ state, weight }: TestedCase): boolean => state === 'failed' && weight === 'must'
    const failures = cases.filter(isFailure).length
    const skipped = cases.filter((each) => each.state !== 'passed' && !isFailure(each)).length
    const tests = cases.map((each) => {
      const head = `    <testcase classname="${escapeXml(name)}" name="${escapeXml(each.says)}" time="${(each.ms / 1000).toFixed(3)}"`
      if (each.state === 'passed') return `${head}/>`
      const message = escapeXml(explanation(each))
      const inner = isFailure(each) ? `<failure message="${message}"/>` : `<skipped message="${message}"/>`
      return `${head}>${inner}</testcase>`
    })
    const counts = `tests="${cases.length}" failures="${failures}" skipped="${skipped}"`
    return [`  <testsuite name="${escapeXml(name)}" ${counts}>`, ...tests, '  </testsuite>'].join('\n')
  })
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites>', ...elements, '</testsuites>', ''].join('\n')
}

/** XML allows no control characters, not even escaped ones. */
const escapeXml = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
