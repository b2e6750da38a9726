/** The scenario of a simulation: a request or response that is evaluated and not sent. */
import Type, { type Static } from 'typebox'
import { Fault, isFault } from '../../base/fault.ts'
import type { CaseRun } from '../../domain/cases/run.ts'
import type { ScenarioContext } from '../../domain/evaluation/simulate.ts'
import { callerFormats } from '../../domain/inference/formats.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import { optionalCategories } from '../../domain/scan/classify/categories.ts'
import { textDirections } from '../../domain/scan/classify/classifier.ts'
import { isRecord } from '../../base/record.ts'
import type { PolicyStore } from '../../domain/policy/store.ts'
import { invalidField } from '../validate.ts'
import { idText } from './fields.ts'
import type { ResourceActor } from './spec.ts'

const ScenarioMessage = Type.Object(
  {
    role: Type.Optional(Type.String({ maxLength: 200, description: 'Default: `user`.' })),
    content: Type.Union([Type.String(), Type.Array(Type.Object({})), Type.Null()], {
      description: 'A text, or blocks.',
    }),
  },
  { title: 'ScenarioMessage', description: 'A message as it is sent to a model: a text, or blocks.' },
)

/** The formats whose messages have a role and a content. */
const scenarioDialects = callerFormats.filter((format) => format !== 'responses')

export const scenarioFields = {
  text: Type.Optional(Type.String({ description: 'A text to evaluate, as one more message.' })),
  messages: Type.Optional(
    Type.Array(ScenarioMessage, {
      maxItems: 1_000,
      description:
        'Messages to evaluate. They are decoded as in `POST /v1/messages` or `POST /v1/chat/completions`, see `dialect`.',
    }),
  ),
  dialect: Type.Optional(
    Type.Enum([...scenarioDialects], {
      description:
        'The endpoint whose messages these are. Default: `messages` if a message has a block of a type that only this one has, such as `tool_use`, else `chat`.',
    }),
  ),
  direction: Type.Optional(
    Type.Enum([...textDirections], {
      description: 'Whether the texts are sent to a model (the default) or come from it.',
    }),
  ),
  model: Type.Optional(idText('The requested model, for rules that read it.', 'gatehouse-echo')),
  user: Type.Optional(idText('The end user, which determines the side of a canary.', 'ada')),
  target: Type.Optional(idText('The value of the header `X-Policy-Target`.', 'eu')),
  project_id: Type.Optional(
    idText('The project of the request. Default: the project of an API key.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0'),
  ),
  key_id: Type.Optional(
    idText(
      'The key of the request, for exceptions and rollouts. Default: the credential that asks.',
      'key_01k9z8y7x6w5v4t3s2r1q0p9n8',
    ),
  ),
  metadata: Type.Optional(
    Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 2_000 }), {
      description: 'The metadata of the request, for rules that read it.',
    }),
  ),
  flagged_categories: Type.Optional(
    Type.Array(Type.Enum([...optionalCategories]), {
      maxItems: 20,
      description: 'Categories that the request blocks in addition.',
    }),
  ),
}

export type ScenarioBody = { readonly [Name in keyof typeof scenarioFields]?: Static<(typeof scenarioFields)[Name]> }
type ScenarioDialect = (typeof scenarioDialects)[number]

/** Decodes the body of a request with the decoder of its endpoint, so that the same texts are evaluated. */
export type DecodeBody = (dialect: ScenarioDialect, body: object) => InferenceRequest

/** The request of a scenario; undefined if it has no message and no text. */
export function requestOf(
  scenario: ScenarioBody,
  decodeBody: DecodeBody,
  /** The field of the body that the scenario is in; empty if it is the body. */
  field = 'scenario',
): InferenceRequest | undefined {
  const { text, messages: given = [], direction = 'request' } = scenario
  const role = direction === 'request' ? 'user' : 'assistant'
  const messages = [
    ...given.map((message) => ({ role, ...message })),
    ...(text === undefined ? [] : [{ role, content: text }]),
  ]
  if (messages.length === 0) return undefined
  try {
    return decodeBody(scenario.dialect ?? dialectOf(given), { model: 'scenario', messages })
  } catch (error) {
    if (!isFault(error) || error.details.param === undefined) throw error
    const prefix = field === '' ? '' : `${field}.`
    const param = prefix + error.details.param
    throw new Fault('validation', 'invalid_parameter', prefix + error.message, { param })
  }
}

/** Blocks that only the Messages API has. */
const messagesBlocks =
  /^(?:tool_use|tool_result|thinking|redacted_thinking|image|document|server_tool_use|.*_tool_result)$/

function dialectOf(messages: NonNullable<ScenarioBody['messages']>): ScenarioDialect {
  const blocks = messages.flatMap(({ content }): readonly unknown[] => (Array.isArray(content) ? content : []))
  const isMessagesBlock = (block: unknown): boolean =>
    isRecord(block) && typeof block['type'] === 'string' && messagesBlocks.test(block['type'])
  return blocks.some(isMessagesBlock) ? 'messages' : 'chat'
}

/** A key is valid for its own project only; an administrator may name any project of the organization. */
export async function requireProject(
  store: Pick<PolicyStore, 'unknownProjects'>,
  actor: ResourceActor,
  projectId: string | undefined,
): Promise<void> {
  if (projectId === undefined) return
  const param = 'scenario.project_id'
  if ('projectId' in actor && actor.projectId !== projectId)
    throw new Fault('permission', 'project_mismatch', `${param} names another project than the key’s own.`, { param })
  const [unknown] = await store.unknownProjects(actor.organization.id, [projectId])
  if (unknown !== undefined) throw invalidField(['scenario', 'project_id'], 'must name a project of the organization')
}

/** What a case is given, as the endpoint of its messages decodes it. */
export const scenarioDecoder =
  (decodeBody: DecodeBody, credentialId: string): CaseRun['scenarioOf'] =>
  (given, direction) => {
    const scenario: ScenarioBody = { direction, ...given }
    return {
      request: requestOf(scenario, decodeBody, 'given'),
      direction: scenario.direction ?? direction,
      categories: [],
      context: contextOf(scenario, { credentialId, projectId: undefined }),
    }
  }

type ScenarioCaller = { readonly credentialId: string; readonly projectId: string | undefined }

export const contextOf = (scenario: ScenarioBody, caller: ScenarioCaller): ScenarioContext => ({
  model: scenario.model ?? '',
  project: scenario.project_id ?? caller.projectId ?? '',
  user: scenario.user,
  credentialId: scenario.key_id ?? caller.credentialId,
  metadata: scenario.metadata ?? {},
  target: scenario.target,
  policyIds: [],
  flaggedCategories: scenario.flagged_categories ?? [],
})
