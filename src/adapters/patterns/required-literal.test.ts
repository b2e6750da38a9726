import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileProgram } from './pattern-program.ts'
import { requiredLiteral } from './required-literal.ts'

const literalOf = (source: string): string | undefined =>
  requiredLiteral(compileProgram([{ source, ignoreCase: false }]))?.toLowerCase()

describe('the literal that every match of a pattern contains', () => {
  for (const [source, literal] of [
    ['falcon', 'falcon'],
    ['(?i)\\bproject\\s+falcon\\b', 'project'],
    ['(?i)\\bticket-3[0-9]{4,6}\\b', 'ticket-3'],
    ['[0-9]+ (?:dollars)', ' dollars'],
    ['x*falcon', 'falcon'],
    ['(?:ab)+cd', 'ab'],
    ['(ab|cd)ef', undefined],
    ['falcon|condor', undefined],
    ['(?:falcon)?', undefined],
    ['[0-9]{4}', undefined],
    ['a{3}', 'aaa'],
    ['é+', undefined],
    ['naïve', 'na'],
    ['', undefined],
  ] as const) {
    it(`of ${source} is ${literal}`, () => assert.equal(literalOf(source), literal))
  }
})
