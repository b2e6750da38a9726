import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { categories } from '../../domain/scan/classify/categories.ts'
import { injectionPlaces } from '../../domain/scan/injection/places.ts'
import { createCelCompiler } from './cel.ts'

const compile = createCelCompiler()
const namesOf = (expression: string): readonly string[] =>
  compile(expression).names.map(({ kind, name }) => `${kind} ${name}`)

const cases: readonly [expression: string, names: readonly string[]][] = [
  ['true', []],
  ['text.contains("falcon")', ['phrase falcon', 'variable text']],
  ['text.lowerAscii().startsWith("a") || text.contains("a")', ['phrase a', 'variable text']],
  ['text.matches("(?i)x+")', ['pattern (?i)x+', 'variable text']],
  ['categories["hate"] > 0.5', ['category hate', 'variable categories']],
  [
    'categories.hate > 0.5 && pii["email"] > 0',
    ['category hate', 'variable categories', 'personal_data email', 'variable pii'],
  ],
  ['has(metadata.team) && metadata["team"] == "red"', ['variable metadata.team', 'variable metadata']],
  ['user in ["a"] && model != project', ['variable user', 'variable model', 'variable project']],
  ['["ann"].exists(name, text.contains(name))', ['variable text']],
  ['text.contains("")', ['variable text']],
]

describe('the names in an expression', () => {
  for (const [expression, names] of cases) it(expression, () => assert.deepEqual(namesOf(expression), names))
})

const read: readonly [expression: string, categories: readonly string[]][] = [
  ['text.contains("hate")', []],
  ['categories["hate"] > 0.5 || categories.sexual > 0.9', ['hate', 'sexual']],
  ['has(categories.hate) && categories.hate > 0.5', ['hate']],
  ['categories[user] > 0.5', [...categories]],
  ['categories.hate > 0.5 && categories[model] > 0.5', [...categories]],
  ['categories.exists(name, categories[name] > 0.5)', [...categories]],
]

describe('the categories that an expression reads', () => {
  for (const [expression, names] of read) it(expression, () => assert.deepEqual(compile(expression).categories, names))
})

const places: readonly [expression: string, places: readonly string[]][] = [
  ['categories.hate > 0.5', []],
  ['prompt_injection.tool_results > 0.5', ['tool_results']],
  ['prompt_injection["documents"] > 0.5 || prompt_injection.tool_results > 0.9', ['tool_results', 'documents']],
  ['prompt_injection.exists(place, prompt_injection[place] > 0.5)', [...injectionPlaces]],
]

describe('the places of prompt injections that an expression reads', () => {
  for (const [expression, names] of places)
    it(expression, () => assert.deepEqual(compile(expression).injectionPlaces, names))
})
