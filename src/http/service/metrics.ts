import Type from 'typebox'
import type { Route } from '../route.ts'

const Exposition = Type.String({
  examples: ['# TYPE gatehouse_charges_waiting gauge\ngatehouse_charges_waiting 0\n'],
})

export function metricsRoutes(readMetrics: () => Promise<string>): Route[] {
  return [
    {
      name: 'getMetrics',
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics for Prometheus',
      credential: 'none',
      answers: {
        200: { description: 'Prometheus text format.', contentType: 'text/plain; version=0.0.4', schema: Exposition },
      },
      handle: async (_request, reply) =>
        reply.type('text/plain; version=0.0.4; charset=utf-8').send(await readMetrics()),
    },
  ]
}
