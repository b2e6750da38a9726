import Type from 'typebox'
import type { Route } from '../route.ts'

/** A part that the service cannot do without. Answers what is wrong with it, or nothing. */
export type ReadinessCheck = { readonly part: string; readonly problem: () => Promise<string | undefined> }

const Ready = Type.Object({ status: Type.Literal('ready') })
const NotReady = Type.Object({
  status: Type.Literal('not_ready'),
  failing: Type.Array(Type.Object({ part: Type.String(), problem: Type.String() })),
})

/** Alive: the process answers. Ready: it can serve; if not, the failing part is named. */
export function healthRoutes(checks: readonly ReadinessCheck[]): Route[] {
  return [
    {
      method: 'GET',
      path: '/health/live',
      summary: 'Is the process alive?',
      credential: 'none',
      answers: { 200: { description: 'It is.', schema: Type.Object({ status: Type.Literal('alive') }) } },
      handle: async () => ({ status: 'alive' }),
    },
    {
      method: 'GET',
      path: '/health/ready',
      summary: 'Can it serve?',
      credential: 'none',
      answers: {
        200: { description: 'It can.', schema: Ready },
        503: { description: 'It cannot; the failing parts.', schema: NotReady },
      },
      async handle(_request, reply) {
        const results = await Promise.all(checks.map(async ({ part, problem }) => ({ part, problem: await problem() })))
        const failing = results.filter((result) => result.problem !== undefined)
        if (failing.length === 0) return { status: 'ready' }
        return reply.code(503).send({ status: 'not_ready', failing })
      },
    },
    {
      method: 'GET',
      path: '/',
      summary: 'Say hello',
      description: 'Some clients knock here before they begin.',
      credential: 'none',
      answers: { 200: { description: 'Where to go next.' } },
      handle: async () => ({ name: 'gatehouse', docs: '/docs', openapi: '/openapi.json', health: '/health/ready' }),
    },
  ]
}
