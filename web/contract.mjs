// Writes the types of what the API sends, from the document that the server is tested against. So
// a change of the API that the pages do not know of fails their build.
//
//     node contract.mjs OPENAPI.json TYPES.ts
import { readFileSync, writeFileSync } from "node:fs";

const scalars = { string: "string", integer: "number", number: "number", boolean: "boolean" };

function object_type(schema) {
  const required = new Set(schema.required ?? []);
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, value]) => `${JSON.stringify(name)}${required.has(name) ? "" : "?"}: ${type_of(value)}`,
  );
  if (typeof schema.additionalProperties === "object")
    members.push(`[name: string]: ${type_of(schema.additionalProperties)}`);
  return schema.properties || members.length > 0
    ? `{ ${members.join("; ")} }`
    : "Record<string, unknown>";
}

function type_of(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.oneOf) return schema.oneOf.map(type_of).join(" | ");
  if (Array.isArray(schema.type))
    return schema.type
      .map((type) => (type === "null" ? type : type_of({ ...schema, type })))
      .join(" | ");
  if (schema.type === "array") return `(${type_of(schema.items)})[]`;
  if (schema.type === "object") return object_type(schema);
  return scalars[schema.type] ?? "unknown";
}

const [, , input, output] = process.argv;
const { schemas } = JSON.parse(readFileSync(input, "utf8")).components;
const types = Object.entries(schemas).map(
  ([name, schema]) => `export type ${name} = ${type_of(schema)};`,
);
writeFileSync(output, types.join("\n") + "\n");
