import { hash } from 'node:crypto'
import { Fault } from '../../base/fault.ts'
import { judgePrompt, judgedBy, type JudgePrompt, type JudgePromptInput } from '../policy/judge-prompt.ts'
import type { JudgeContent, JudgeTemplate } from './judge.ts'

/** Of both parts together. The template is paid for with every question. */
export const maxTemplateCharacters = 8_000

const place = /\{\{\s*(\w+)\s*\}\}/g
const places = { system: ['rule', 'direction'], user: ['rule', 'text', 'direction'] } as const

/** Throws unless the rule and the text have one place each, and there are no other places. */
export function checkTemplate({ system, user }: JudgeTemplate, param = 'prompt.template'): void {
  if (system.length + user.length > maxTemplateCharacters)
    throw invalid(param, `must have at most ${maxTemplateCharacters} characters.`)
  for (const [part, text] of Object.entries({ system, user }) as ['system' | 'user', string][])
    for (const [found, name = ''] of text.matchAll(place))
      if (!(places[part] as readonly string[]).includes(name))
        throw invalid(`${param}.${part}`, `has no place ${found}. Its places are ${listOf(places[part])}.`)
  if (count(user, 'text') !== 1) throw invalid(`${param}.user`, 'needs the place {{text}} once.')
  if (count(system, 'rule') + count(user, 'rule') !== 1)
    throw invalid(param, 'needs the place {{rule}} once, in system or in user.')
}

/** The prompt of a version. What keeps a text from giving instructions, and the form of the answer, are always added. */
export function promptOf(template: JudgeTemplate | null, input: JudgePromptInput): JudgePrompt {
  if (template === null) return judgePrompt(input)
  const { guards, form, between } = judgedBy(input)
  // One pass, because a rule or a text may itself contain what looks like a place.
  const values: Readonly<Record<string, string>> = {
    rule: input.rule,
    text: between.join('\n'),
    direction: input.direction,
  }
  const filled = (text: string): string => text.replace(place, (found, name: string) => values[name] ?? found)
  return {
    system: [filled(template.system), '', ...guards, '', ...form].join('\n'),
    user: filled(template.user),
  }
}

/** Identifies the prompt: scores of the same model and digest can be compared. */
export function digestOfPrompt({ template, parameters }: Pick<JudgeContent, 'template' | 'parameters'>): string {
  const blank = { rule: '', text: '', mark: '' }
  const prompts = ['request', 'response'].map((direction) => promptOf(template, { ...blank, direction }))
  return hash('sha256', JSON.stringify([prompts, parameters]), 'hex').slice(0, 12)
}

const count = (text: string, name: string): number =>
  [...text.matchAll(place)].filter(([, found]) => found === name).length

const listOf = (names: readonly string[]): string => names.map((name) => `{{${name}}}`).join(', ')

const invalid = (param: string, problem: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })
