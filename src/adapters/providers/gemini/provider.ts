import type { ListedModel } from '../../../domain/inference/provider.ts'
import type { JsonRecord } from '../json-values.ts'
import { asCount, asList, asRecords, asText } from '../json-values.ts'
import type { HttpVendor } from '../vendor.ts'
import type { WireFormat } from '../wire-format.ts'
import { readGeminiError } from './errors.ts'
import { createGeminiDecoder, formatName } from './events.ts'
import { plainName } from './models.ts'
import { encodeGeminiRequest, modelPath } from './request.ts'

/** No caller uses this format, so nothing passes through. */
const geminiFormat: WireFormat = {
  name: formatName,
  encode: encodeGeminiRequest,
  createDecoder: createGeminiDecoder,
  readError: readGeminiError,
  tokenCounter: {
    encode: ({ body }, model) => ({
      path: `${modelPath(model)}:countTokens`,
      body: { generateContentRequest: { model: `models/${plainName(model)}`, ...body } },
    }),
    countField: 'totalTokens',
  },
}

/** Google's Generative Language API. */
export const geminiVendor: HttpVendor = {
  systemName: 'gcp.gemini',
  baseUrl: 'https://generativelanguage.googleapis.com',
  path: '/v1beta/models',
  modelsPath: '/v1beta/models?pageSize=1000',
  readModels: (body) => ('models' in body ? asRecords(body['models']).flatMap(readModel) : undefined),
  auth: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  formatAt: () => geminiFormat,
}

/** The list contains models for other purposes, such as embeddings. */
function readModel({ name, inputTokenLimit, supportedGenerationMethods: methods }: JsonRecord): ListedModel[] {
  if (asText(name) === '' || !asList(methods).includes('generateContent')) return []
  const contextTokens = asCount(inputTokenLimit)
  return [{ name: plainName(asText(name)), ...(contextTokens && { contextTokens }) }]
}
