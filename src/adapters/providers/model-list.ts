import type { ListedModel, Provider } from '../../domain/inference/provider.ts'
import { upstreamFailed } from './failures.ts'
import type { JsonRecord } from './json-values.ts'
import { asCount, asRecord, asRecords, isNonEmptyText } from './json-values.ts'
import { throwWithoutSecrets } from './mask-secrets.ts'
import type { AnswerMemoryBudget } from './network/answer-memory-budget.ts'
import { createCaller, type UpstreamCallerParts, type UpstreamCallerSettings } from './network/call.ts'

type ModelListSettings = Omit<UpstreamCallerSettings, 'url'> & {
  readonly modelsUrl: URL
  readonly readModels: ReadModels
  readonly headers: () => Readonly<Record<string, string>>
}
type ModelListParts = UpstreamCallerParts & {
  readonly answerMemory: AnswerMemoryBudget
  readonly secrets: () => readonly string[]
}

/** The longest name that an entry of the catalogue may have. */
const maxNameLength = 200
/** The list of a vendor with an unusual number of models is cut off. */
const maxListed = 1_000

/** The models in a response; undefined if it is not a list of models. */
export type ReadModels = (body: JsonRecord) => readonly ListedModel[] | undefined

/** Reads the model list of the upstream. */
export function createModelList(
  settings: ModelListSettings,
  parts: ModelListParts,
): NonNullable<Provider['listModels']> {
  const get = createCaller({ ...settings, url: settings.modelsUrl }, parts)
  return async (signal) => {
    const lease = parts.answerMemory.open()
    const outgoing = {
      headers: { ...settings.headers(), accept: 'application/json' },
      wantsStream: false,
      mayQueue: false,
    }
    const response = await get(outgoing, signal, lease)
      .catch(throwWithoutSecrets(parts))
      .finally(() => lease.release())
    const listed = response.kind === 'document' ? settings.readModels(response.body) : undefined
    if (listed === undefined) throw upstreamFailed('The model’s upstream did not return a list of models.')
    return listed.filter(({ name }) => name.length <= maxNameLength).slice(0, maxListed)
  }
}

/** The model list of OpenAI, which most vendors imitate. */
export const readDataList: ReadModels = (body) =>
  'data' in body ? asRecords(body['data']).flatMap(readListedModel) : undefined

/** vLLM and SGLang report the context window as `max_model_len`, llama.cpp reports it in `meta`. */
function readListedModel({ id, max_model_len: length, meta }: JsonRecord): ListedModel[] {
  if (!isNonEmptyText(id)) return []
  const contextTokens =
    asCount(length) || asCount(asRecord(meta)?.['n_ctx']) || asCount(asRecord(meta)?.['n_ctx_train'])
  return [{ name: id, ...(contextTokens && { contextTokens }) }]
}
