import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCelCompiler } from './cel.ts'

const compile = createCelCompiler()

describe('the look-behind length of an expression', () => {
  for (const [expression, lookBehind] of [
    ['categories["hate"] > 0.5', { characters: 0, personalData: false, patterns: false }],
    ['pii["email"] > 0 && user != "ann"', { characters: 0, personalData: true, patterns: false }],
    ['direction == "request"', { characters: 0, personalData: false, patterns: false }],
    ['text.contains("falcon")', { characters: 6, personalData: false, patterns: false }],
    ['text.contains("falcon") || text.contains("condor x")', { characters: 8, personalData: false, patterns: false }],
    ['text.lowerAscii().contains("falcon") || pii.email > 0', { characters: 6, personalData: true, patterns: false }],
    [
      'direction == "response" && (text.contains("a") || text.contains("bb"))',
      { characters: 2, personalData: false, patterns: false },
    ],
    [
      '(text.contains("a") || text.contains("bb")) && user == "ann"',
      { characters: 2, personalData: false, patterns: false },
    ],
    ['0.5 <= categories.hate && pii.phone + pii.email >= 2', { characters: 0, personalData: true, patterns: false }],
    ['categories["hate"]', { characters: 0, personalData: false, patterns: false }],
    ['text.matches("a+b")', { characters: 0, personalData: false, patterns: true }],
    [
      'text.matches("(?i)\\\\ba+b\\\\b") || text.contains("bb")',
      { characters: 2, personalData: false, patterns: true },
    ],
    ['user == "ann" && text.matches("a+b")', { characters: 0, personalData: false, patterns: true }],
    ['text.lowerAscii().matches("a+b")', { characters: 0, personalData: false, patterns: true }],
    ['text.upperAscii().matches("A") || text.contains("bb")', { characters: 2, personalData: false, patterns: true }],
    ['text.matches("^a")', { characters: 0, personalData: false, patterns: true, isAtStart: true }],
    ['text.matches("\\\\A(a|b)+")', { characters: 0, personalData: false, patterns: true, isAtStart: true }],
    [
      'user == "ann" && (text.matches("^a|^b") || text.lowerAscii().matches("(^a)"))',
      { characters: 0, personalData: false, patterns: true, isAtStart: true },
    ],
    // A conditional between constants needs what its condition needs.
    ['text.contains("falcon") ? 1.0 : 0.0', { characters: 6, personalData: false, patterns: false }],
    ['text.contains("falcon") ? 0.9 : 0.1', { characters: 6, personalData: false, patterns: false }],
    ['text.contains("falcon") ? true : false', { characters: 6, personalData: false, patterns: false }],
    ['text.contains("falcon") ? 1 : 0', { characters: 6, personalData: false, patterns: false }],
    [
      'text.lowerAscii().contains("falcon") || pii.email > 0 ? 1.0 : 0.0',
      { characters: 6, personalData: true, patterns: false },
    ],
    ['text.matches("a+b") ? 1.0 : 0.0', { characters: 0, personalData: false, patterns: true }],
    ['text.matches("^a") ? 1.0 : 0.0', { characters: 0, personalData: false, patterns: true, isAtStart: true }],
    [
      'text.contains("falcon") ? 1.0 : text.matches("a+b") ? 0.6 : 0.0',
      { characters: 6, personalData: false, patterns: true },
    ],
    // A match may no longer match when more text arrives.
    ['categories["hate"] < 0.5', 'whole'],
    ['pii.email == 1', 'whole'],
    ['!(pii.email > 0)', 'whole'],
    ['1.0 - categories.hate > 0.5', 'whole'],
    ['categories.hate > categories.sexual', 'whole'],
    ['pii.email > 0 ? 0.1 : 0.9', 'whole'],
    // A score above 1 is not valid.
    ['pii.email', 'whole'],
    ['categories.hate + categories.sexual', 'whole'],
    // The first match is already sent when the second arrives.
    ['text.contains("a") && text.contains("b")', 'whole'],
    ['text.contains("a") && categories.hate > 0.5', 'whole'],
    ['pii.email > 0 && text.contains("a")', 'whole'],
    ['!text.contains("a")', 'whole'],
    ['text.contains(user)', 'whole'],
    ['text.contains("a") == false', 'whole'],
    ['text.matches("a") && text.matches("b")', 'whole'],
    ['text.matches("a") && pii.email > 0', 'whole'],
    ['!text.matches("a")', 'whole'],
    ['text.matches("a" + user)', 'whole'],
    // In a part of the text these match elsewhere.
    ['text.matches("a$")', 'whole'],
    ['text.matches("^a$")', 'whole'],
    ['text.matches("(?m)a$")', 'whole'],
    ['text.matches("(?m)^a")', 'whole'],
    ['text.matches("^a|b")', 'whole'],
    ['text.matches("b?^a")', 'whole'],
    ['text.matches("^a") || text.matches("b")', 'whole'],
    ['text.matches("^a") || text.contains("b")', 'whole'],
    ['text.matches("^a") || categories.hate > 0.5', 'whole'],
    // Without a condition, a stream is not searched for the pattern.
    ['user == "ann" || text.matches("a")', 'whole'],
    ['size(text) > 100', 'whole'],
    ['text.lowerAscii().contains("ὀδός")', 'whole'],
    ['text.trim().contains("a")', 'whole'],
    ['cel.bind(t, text, t.contains("a"))', 'whole'],
    ['text.contains("a") ? 0.1 : 0.9', 'whole'],
    ['text.contains("a") ? 0.6 : text.contains("b") ? 1.0 : 0.0', 'whole'],
    ['!text.contains("a") ? 1.0 : 0.0', 'whole'],
    ['text.contains("a") && text.contains("b") ? 1.0 : 0.0', 'whole'],
    ['text.contains("a") ? categories.hate : 0.0', 'whole'],
    ['text.contains("a") ? 1.0 : categories.hate', 'whole'],
    ['text.matches("^a") ? 1.0 : text.contains("b") ? 0.5 : 0.0', 'whole'],
    // A score above 1 is not valid.
    ['text.contains("a") ? 2 : 0', 'whole'],
    // Texts without a match have a score, so a stream is not searched for the pattern.
    ['text.matches("a") ? 1.0 : 0.1', 'whole'],
  ] as const) {
    it(`of ${expression} is ${JSON.stringify(lookBehind)}`, () =>
      assert.deepEqual(compile(expression).lookBehind, lookBehind))
  }
})
