// Microsoft's own client, for what has to agree with it.
//
//     microsoft.mjs ENDPOINT ACCOUNT KEY CONTAINER read FOLDER     every blob into a file of FOLDER
//     microsoft.mjs ENDPOINT ACCOUNT KEY CONTAINER sign            prints a shared access signature
import { createRequire } from "node:module";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

const require = createRequire(join(process.env.BLOB_PACKAGES, "package.json"));
const azure = require("@azure/storage-blob");

const [endpoint, account, key, container, verb, folder] = process.argv.slice(2);
const credential = new azure.StorageSharedKeyCredential(account, key);

if (verb === "sign") {
  const signature = azure.generateBlobSASQueryParameters({
    containerName: container,
    permissions: azure.ContainerSASPermissions.parse("racwdl"),
    startsOn: new Date(Date.now() - 60_000),
    expiresOn: new Date(Date.now() + 3_600_000),
    protocol: azure.SASProtocol.HttpsAndHttp,
  }, credential);
  console.log(signature.toString());
} else {
  const client = new azure.BlobServiceClient(endpoint, credential).getContainerClient(container);
  for await (const blob of client.listBlobsFlat()) {
    const file = join(folder, blob.name);
    mkdirSync(dirname(file), { recursive: true });
    await client.getBlobClient(blob.name).downloadToFile(file);
  }
}
