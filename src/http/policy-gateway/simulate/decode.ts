import type { Static } from 'typebox'
import type { GivenConfiguration } from '../../../domain/gateway-config/complete.ts'
import type { Scenario } from '../../../domain/evaluation/simulate.ts'
import { joinedFragments } from '../../../domain/evaluation/texts/joined-fragments.ts'
import { stringsIn, wordsIn } from '../../../domain/evaluation/texts/text-fields.ts'
import { vendorFieldRoles } from '../../../wire/field-roles.ts'
import type { SimulateBody } from './schema.ts'

type Body = Static<typeof SimulateBody>
type Message = NonNullable<NonNullable<Body['scenario']>['messages']>[number]

/** The configuration in the body and the prefix of its fields; undefined if the saved one is to be evaluated. */
export function givenIn({ policy, config }: Body): [given: GivenConfiguration, paramPrefix: string] | undefined {
  if (policy !== undefined) return [policy, 'policy.']
  return config && [config, 'config.']
}

export function scenarioIn({ scenario = {}, categories = [] }: Body): Scenario {
  const { text, messages = [], direction = 'request', user, target } = scenario
  const texts = [...messages.flatMap(textsOf), ...(text === undefined ? [] : [text])]
  return {
    texts: texts.filter((each) => each.trim() !== ''),
    joinedFragments: messages.flatMap(seamsIn),
    direction,
    categories: scenario.categories ?? categories,
    user,
    target,
  }
}

/** The texts of each block, as in the request pipeline. Of blocks that are not text, every string in them. */
function textsOf({ role: _role, content, ...rest }: Message): readonly string[] {
  const blocks = typeof content === 'string' ? [content] : (content ?? []).flatMap(textsOfBlock)
  return [...blocks, stringsIn(rest).join('\n')]
}

function textsOfBlock(block: object): readonly string[] {
  const text = proseOf(block)
  if (text === undefined) return [stringsIn(block).join('\n')]
  const beside = wordsIn({ messages: [{ ...block, text: undefined }] }, vendorFieldRoles)
  return [text, beside.join('\n')]
}

const seamsIn = ({ content }: Message): readonly string[] =>
  Array.isArray(content) ? joinedFragments(content.map((block) => proseOf(block) ?? '')) : []

function proseOf(block: object): string | undefined {
  const text: unknown = Reflect.get(block, 'text')
  return typeof text === 'string' ? text : undefined
}
