# The lab's targets; the top Makefile includes this. See cmd/lab and cmd/build.

.PHONY: lab
lab: ## Build the lab: Kubernetes, etcd and Cluster API, from Go modules (the first time takes minutes).
	@cd testdata/lab && go run ./cmd/build

.PHONY: lab-up
lab-up: lab ## Start the lab in the background and wait until all is staged.
	@$(LAB) up

.PHONY: lab-down
lab-down: ## End the lab.
	@if [ -x $(LAB) ]; then $(LAB) down; else echo "No lab was built."; fi

.PHONY: lab-clean
lab-clean: lab-down ## Remove what was built for the lab.
	@rm -rf $(VKSMEDIC_LAB_DIR)
