const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2024; background: #fff }
h1 { font-size: 1.6rem } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d9dde3 } h4 { margin: 1rem 0 .25rem }
code { font: 13px ui-monospace, monospace; background: #f2f4f7; padding: .1em .3em; border-radius: 3px }
table { border-collapse: collapse; width: 100%; margin: .25rem 0 1rem } td, th { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid #eceff3 }
details { margin: .5rem 0; padding: .5rem .75rem; border: 1px solid #d9dde3; border-radius: 6px } summary { cursor: pointer }
tr:target { background: #fff6d6 } .note { color: #5b6570 }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #16181b } code { background: #24272c } td, th, h2, details { border-color: #33373d } tr:target { background: #3a3420 } a { color: #8ab4ff } .note { color: #a0a8b0 } }`

/** An HTML page without external resources. */
export const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)} · Gatehouse</title><style>${style}</style></head><body>${body}</body></html>`

export const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
