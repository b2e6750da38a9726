import { chatFamily } from '../http/chat/routes.ts'
import { creditsFamily } from '../http/credits/family.ts'
import type { CreditRouteParts } from '../http/credits/routes.ts'
import { decisionPageFamily, type DecisionPageParts } from '../http/decisions/page-family.ts'
import { decisionRoute, type DecisionRouteParts } from '../http/decisions/routes.ts'
import { GeneralErrorBody } from '../http/default-errors.ts'
import { embeddingsFamily, type EmbeddingsParts } from '../http/embeddings/routes.ts'
import type { CountEndpointParts } from '../http/inference/count.ts'
import { messagesFamily } from '../http/messages/routes.ts'
import { modelRoutes, type ModelsParts } from '../http/models/routes.ts'
import { moderationsFamily, type ModerationParts } from '../http/moderations/routes.ts'
import { responsesFamily } from '../http/responses/routes.ts'
import type { StoreResponseParts } from '../http/responses/store-response.ts'
import type { EndpointFamily, Route } from '../http/route.ts'

export type InferenceFamilyParts = EmbeddingsParts &
  CountEndpointParts &
  StoreResponseParts &
  ModerationParts &
  CreditRouteParts &
  DecisionRouteParts &
  ModelsParts & {
    /** Undefined if no denial leads to the page of its decision. */
    readonly decisionPage: DecisionPageParts | undefined
  }

/** The endpoints that applications call models with. */
export const inferenceFamilies = (parts: InferenceFamilyParts): EndpointFamily[] => [
  messagesFamily(parts),
  responsesFamily(parts),
  chatFamily(parts),
  embeddingsFamily(parts),
  moderationsFamily(parts),
]

/** What applications ask about their key: its models, its credits, and decisions on its requests. */
export const billingFamilies = (
  parts: InferenceFamilyParts,
  encodeError: EndpointFamily['encodeError'],
  appealRoutes: readonly Route[],
): EndpointFamily[] => [
  {
    name: 'Models',
    description: 'The models that a key may use.',
    prefixes: ['/v1/models'],
    routes: modelRoutes(parts),
    encodeError,
    errorSchema: GeneralErrorBody,
  },
  creditsFamily(parts, encodeError),
  {
    name: 'Decisions',
    description: 'Why a request of the key’s project was decided as it was, and appeals against it.',
    prefixes: ['/v1/decisions'],
    routes: [decisionRoute(parts), ...appealRoutes],
    encodeError,
    errorSchema: GeneralErrorBody,
  },
  ...(parts.decisionPage === undefined ? [] : [decisionPageFamily(parts.decisionPage)]),
]
